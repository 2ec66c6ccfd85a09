"""How long the reproduction of the JAX-native tasks under ``robust`` takes with 16 seeds, from two seeds of
each cell: what starting a cell takes comes once, what a seed takes comes 16 times. Seconds of the cells' own
processes, one core each; nothing else should run. Writes ``results/bench/hour.json``; ten minutes on two
cores.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from offnac import files
from offnac.provenance import now, versions

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "hour"
CELLS, SEEDS, ALL = "cartpole,acrobot,mountaincar", 2, 16


def seconds(seeds: int, *options: str) -> tuple[float, float, dict[str, float]]:
    """Of the whole command, of all its cells, and of each."""
    shutil.rmtree(OUT, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "offnac", "reproduce", "--cells", CELLS, "--presets", "robust"),
        *("--seeds", str(seeds), "--first-seed", "900", "--out", str(OUT), "--quiet", *options),
    ]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    cells = json.loads((OUT / "timings.json").read_text())["runs"]
    return time.perf_counter() - began, sum(cells.values()), cells


def main() -> None:
    seconds(1, "--episodes", "2", "--test-episodes", "2")  # compiles what is not compiled yet
    _, start, _ = seconds(1, "--episodes", "2", "--test-episodes", "2")
    whole, work, cells = seconds(SEEDS)
    cores = os.cpu_count() or 1
    found = {
        "cells": cells,
        "seeds": SEEDS,
        "cores": cores,
        "seconds": whole,
        "start": start,
        "a_seed": (work - start) / SEEDS,
        "minutes_of_16_seeds": (start + ALL * (work - start) / SEEDS) / cores / 60.0,
        "versions": versions(),
        "date": now(),
    }
    files.write_json(ROOT / "results" / "bench" / "hour.json", found)
    print(json.dumps({name: found[name] for name in ("seconds", "start", "a_seed", "minutes_of_16_seeds")}))


if __name__ == "__main__":
    main()
