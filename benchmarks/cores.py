"""Two cores against one over seeds: the same ``train`` with one worker and with two, in turn.

Seeds are spread over threads, each in a program of its own, so two cores should take half the time. Writes
``results/bench/cores.json``; a minute on two idle cores, and of no meaning on busy ones.
"""

import os
import tempfile
import time
from functools import partial
from pathlib import Path

import harness
from harness import Results, Row, in_turn, ratio, spread

from offnac import environments, presets
from offnac.training.stream import train_seeds

TASK, SEEDS = "CartPole-v1", 8


def training(algorithm: str, cores: list[int], episodes: int) -> float:
    """Training steps per second; threads keep to the cores of the one that begins them."""
    environment = environments.make(TASK)
    experiment = presets.experiment("published", algorithm, environment.spec, episodes=episodes)
    os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        runs = train_seeds(
            environment, experiment, range(SEEDS), Path(out), test_episodes=1, workers=len(cores)
        )
        return sum(run["train_steps"] for run in runs) / (time.perf_counter() - began)


def measure(algorithm: str, cores: list[int], episodes: int, repeats: int) -> Row:
    contenders = {f"{count}": partial(training, algorithm, cores[:count], episodes) for count in (1, 2)}
    found = in_turn(contenders, repeats)
    return {
        "repeats": repeats,
        "steps_per_second": {name: spread(rates) for name, rates in found.items()},
        "times_one_core": ratio(found["2"], found["1"]),
    }


def cells(row: Row) -> list[str]:
    rates = (f"{row['steps_per_second'][name]['median']:,.0f}" for name in ("1", "2"))
    return [row["environment"], row["algorithm"], *rates, f"{row['times_one_core']:.2f}"]


def main() -> None:
    given = harness.arguments(__doc__, episodes=(400, "training episodes of each seed"))
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        print("cores: this needs two cores that a process can be kept to; left out")
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    about = (
        "Training steps per second of 8 seeds of CartPole, files and tests included, on one core and on two."
    )
    results = Results("cores", "Two cores", about, given)
    for algorithm in ("nac", "offnac"):
        measured = partial(measure, algorithm, cores, given.episodes, given.repeats)
        results.measure({"environment": TASK, "algorithm": algorithm}, measured)
        results.write(["task", "algorithm", "one core", "two cores", "times one core"], cells)


if __name__ == "__main__":
    main()
