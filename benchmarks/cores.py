"""Two cores against one over seeds: the same ``offnac train`` with one worker and with two, in turn.

Every run is a process of its own, kept to its cores from the start, so that XLA's pool of threads is as large
as there are cores. The time is that of the training, with the start of its processes. Writes
``results/bench/cores.json``; minutes on two idle cores, and of no meaning on busy ones.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial

import harness
from harness import Results, Row, in_turn, ratio, spread

TASK = "CartPole-v1"
TIMES = {"nac": 1, "offnac": 4}
"""Training episodes under the uniform behaviour are short."""


def training(algorithm: str, cores: list[int], seeds: int, episodes: int) -> float:
    """Training steps per second."""
    os.sched_setaffinity(0, cores)
    environment = {name: value for name, value in os.environ.items() if name != "NPROC"}
    with tempfile.TemporaryDirectory() as folder:
        numbers = {"seeds": seeds, "episodes": episodes, "test-episodes": 1, "workers": len(cores)}
        out = f"{folder}/run"
        command = [sys.executable, "-m", "offnac", "train", TASK, "--algorithm", algorithm]
        options = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
        printed = subprocess.check_output(
            [*command, *options, "--out", out, "--quiet", "--json"], env=environment
        )
    result = json.loads(printed)
    return float(result["train_steps"] / result["seconds"])


def measure(algorithm: str, cores: list[int], seeds: int, episodes: int, repeats: int) -> Row:
    training(algorithm, cores, seeds, 1)  # compiles
    contenders = {
        f"{count}": partial(training, algorithm, cores[:count], seeds, episodes) for count in (1, 2)
    }
    found = in_turn(contenders, repeats, warm_up=False)
    return {
        "episodes": episodes,
        "repeats": repeats,
        "steps_per_second": {name: spread(rates) for name, rates in found.items()},
        "times_one_core": ratio(found["2"], found["1"]),
    }


def cells(row: Row) -> list[str]:
    rates = (f"{row['steps_per_second'][name]['median']:,.0f}" for name in ("1", "2"))
    return [row["environment"], row["algorithm"], f"{row['seeds']}", *rates, f"{row['times_one_core']:.2f}"]


def main() -> None:
    given = harness.arguments(
        __doc__,
        seeds=(16, "seeds of each run"),
        episodes=(1500, "training episodes of each seed; off-policy four times as many"),
    )
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        print("cores: this needs two cores that a process can be kept to; left out")
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    about = (
        "Training steps per second over seeds of CartPole, on one core and on two; in the time are files, "
        "tests and the start of the processes that two cores work in, which more seeds make less of."
    )
    results = Results("cores", "Two cores", about, given)
    for algorithm in ("nac", "offnac"):
        measured = partial(
            measure, algorithm, cores, given.seeds, TIMES[algorithm] * given.episodes, given.repeats
        )
        results.measure({"environment": TASK, "algorithm": algorithm, "seeds": given.seeds}, measured)
        results.write(["task", "algorithm", "seeds", "one core", "two cores", "times one core"], cells)


if __name__ == "__main__":
    main()
