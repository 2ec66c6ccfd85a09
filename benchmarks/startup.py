"""Starting up: ``offnac --help`` beside Python itself, and what a second start compiles.

The commands of ``make run`` in small, and ``train`` and ``ope``, twice each with a cache of compiled programs
that is empty the first time. Writes ``results/bench/startup.json``; about two minutes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import harness
from harness import Results, Row, in_turn, ratio, seconds, spread

COMMANDS = {
    "collect": "CartPole-v1 --steps 22000 --out {out}/log.parquet",
    "learn": "{out}/log.parquet --iterations 2 --out {out}/learned",
    "evaluate": "{out}/learned CartPole-v1 --episodes 10",
    "audit": "{out}/log.parquet {out}/learned --html {out}/audit.html",
    "watch": "{out}/learned CartPole-v1 --out {out}/policy.gif",
    "train": "CartPole-v1 --algorithm nac --seeds 2 --episodes 3 --test-episodes 10 --out {out}/trained",
    "ope": "{out}/learned {out}/log.parquet",
}
COMPILING = Path(__file__).with_name("compiling.py")


def seconds_of(command: list[str]) -> float:
    return seconds(partial(subprocess.run, command, check=True, capture_output=True))


def helped(repeats: int) -> Row:
    contenders = {
        "python": partial(seconds_of, [sys.executable, "-c", "pass"]),
        "help": partial(seconds_of, [sys.executable, "-m", "offnac", "--help"]),
    }
    found = in_turn(contenders, repeats)
    taken = {name: spread(times) for name, times in found.items()}
    return {"repeats": repeats, "seconds": taken, "times_python": ratio(found["help"], found["python"])}


def twice(_: int) -> Row:
    """Each command with an empty cache, and again with what that left in it."""
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        for _round in range(2):
            with tempfile.TemporaryDirectory() as out:
                rounds.append({name: _run(name, out, cache) for name in COMMANDS})
    return {"rounds": rounds}


def _run(name: str, out: str, cache: str) -> dict[str, Any]:
    command = [sys.executable, str(COMPILING), name, *COMMANDS[name].format(out=out).split(), "--quiet"]
    began = time.perf_counter()
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_COMPILATION_CACHE_DIR": cache},
    )
    told = json.loads(done.stderr.splitlines()[-1])
    return {"seconds": time.perf_counter() - began, **told}


def cells(row: Row) -> list[str]:
    if "rounds" not in row:
        help_, python = row["seconds"]["help"]["median"], row["seconds"]["python"]["median"]
        return [row["what"], f"{help_:.2f} s", f"{python:.2f} s (python -c pass)", ""]
    first, second = (
        {
            field: sum(one[field] for one in each.values())
            for field in ("seconds", "compiled", "compile_seconds")
        }
        for each in row["rounds"]
    )
    return [
        row["what"],
        f"{second['seconds']:.1f} s",
        f"{first['seconds']:.1f} s (the first start)",
        f"{first['compiled']} programs in {first['compile_seconds']:.1f} s, then {second['compiled']} in "
        f"{second['compile_seconds']:.1f} s",
    ]


def main() -> None:
    given = harness.arguments(__doc__)
    harness.one_core()
    about = (
        "`offnac --help`, and the commands of `make run` (in small) with `train` and `ope` started twice "
        "with a cache of compiled programs that is empty at first."
    )
    results = Results("startup", "Starting up", about, given)
    for what, measure in {"offnac --help": helped, "commands, second start": twice}.items():
        results.measure({"what": what}, partial(measure, given.repeats))
        results.write(["what", "time", "beside", "compiled"], cells)


if __name__ == "__main__":
    main()
