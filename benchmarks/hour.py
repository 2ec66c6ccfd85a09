"""How long the reproduction of the JAX-native tasks under ``robust`` takes with 16 seeds, from two seeds of
each cell: what starting a cell takes comes once, what a seed takes comes 16 times. Seconds of the cells' own
processes, one core each; nothing else should run. Writes ``results/bench/hour.json``; ten minutes on two
cores.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from offnac import files
from offnac.experiments.summary import TIMINGS
from offnac.provenance import now, versions

ROOT = Path(__file__).parents[1]
OUT, RESULT = ROOT / "out" / "hour", ROOT / "results" / "bench" / "hour.json"
CELLS, SEEDS, ALL = "cartpole,acrobot,mountaincar", 2, 16


def seconds(seeds: int, *options: str) -> tuple[float, dict[str, float]]:
    """Of the whole command, and of each cell."""
    shutil.rmtree(OUT, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "offnac", "reproduce", "--cells", CELLS, "--presets", "robust"),
        *("--seeds", str(seeds), "--first-seed", "900", "--out", str(OUT), "--quiet", *options),
    ]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began, files.read_json(OUT / TIMINGS)["runs"]


def keep(found: dict[str, Any]) -> None:
    """Beside what the other way of measuring found."""
    before = files.read_json(RESULT) if RESULT.exists() else {}
    files.write_json(RESULT, before | found)


def whole(machine: str) -> None:
    """All seeds."""
    took, cells = seconds(ALL)
    minutes, cores = took / 60.0, os.cpu_count() or 1
    told = {"seeds": ALL, "cores": cores, "machine": machine, "minutes": minutes}
    keep({"whole": {"cells": cells, **told, "versions": versions(), "date": now()}})
    print(f"{minutes:.1f} minutes")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--whole", action="store_true", help="run all 16 seeds")
    parser.add_argument("--machine", default="nothing else at work", help="what the minutes are of")
    given = parser.parse_args()
    if given.whole:
        whole(given.machine)
        return
    little = ("--episodes", "2", "--test-episodes", "2")
    seconds(1, *little)  # compiles what is not compiled yet
    start = sum(seconds(1, *little)[1].values())
    took, cells = seconds(SEEDS)
    a_seed, cores = (sum(cells.values()) - start) / SEEDS, os.cpu_count() or 1
    found = {
        "cells": cells,
        "seeds": SEEDS,
        "cores": cores,
        "seconds": took,
        "start": start,
        "a_seed": a_seed,
        "minutes_of_16_seeds": (start + ALL * a_seed) / cores / 60.0,
        "versions": versions(),
        "date": now(),
    }
    keep(found)
    print(json.dumps({name: found[name] for name in ("seconds", "start", "a_seed", "minutes_of_16_seeds")}))


if __name__ == "__main__":
    main()
