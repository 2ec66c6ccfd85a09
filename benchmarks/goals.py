"""Seconds of training until a task is mastered: ours beside Stable-Baselines3's A2C and PPO.

One rule for all: the running average of the training returns, in which the newest weighs 0.1, reaches the
goal. Every contender has one core, one seed at a time, and the same time at most. Ours: Deep NAC, preset
``robust``, as ``train`` runs it, compiled before the clock starts (how long that takes is told). Theirs:
their defaults, one environment. Writes ``results/bench/goals.json``; by default up to ten minutes.
"""

import statistics
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import harness
import jax
import numpy as np
from harness import Results, Row, clock
from peers import Peer

from offnac import environments, presets
from offnac.environments import HostEnvironment
from offnac.training import lockstep, native
from offnac.training.progress import Stopped, Update
from offnac.training.protocol import start

GOALS = {"CartPole-v1": 475.0, "Acrobot-v1": -100.0, "MountainCar-v0": -150.0, "LunarLander-v3": 200.0}
MAX_STEPS = {"MountainCar-v0": 200}
NEWEST = 0.1
CHUNK_SECONDS, CAPACITY = 0.25, 64
THEIRS = ("a2c", "ppo")


def ours(task: str, seconds: float, seed: int) -> dict[str, Any]:
    environment = environments.make(task, MAX_STEPS.get(task))
    experiment = presets.experiment("robust", "nac", environment.spec, newest=NEWEST)
    if isinstance(environment, HostEnvironment):
        return _in_lockstep(environment, experiment, GOALS[task], seconds, seed)
    run = start(experiment.algorithm, experiment.protocol, environment.spec, jax.random.key(seed))
    settings = (environment, experiment.algorithm, experiment.protocol)
    began = clock()
    jax.block_until_ready(native.chunk(*settings, run, 0, capacity=CAPACITY))
    compiled, count, spent, best = clock() - began, 1, 0.0, -np.inf
    reached = None
    while reached is None and spent < seconds:
        began = clock()
        run, records = native.chunk(*settings, run, count, capacity=CAPACITY)
        best = max(best, float(np.asarray(records.average)[:count].max()))
        took = clock() - began
        spent += took
        if best >= GOALS[task]:
            reached = spent
        count = max(1, min(CAPACITY, 2 * count, int(count * CHUNK_SECONDS / took)))
    return {
        "seconds": reached,
        "steps": int(run.train_steps),
        "best_average": best,
        "compile_seconds": compiled,
    }


def _in_lockstep(
    environment: HostEnvironment, experiment: Any, goal: float, seconds: float, seed: int
) -> dict[str, Any]:
    """The clock starts with the first episode's end: what comes before it is mostly compiling."""
    stop, told = Event(), []

    def report(update: Update) -> None:
        now = clock()
        told.append((now, update))
        if update.average >= goal or now - told[0][0] > seconds:
            stop.set()

    began = clock()
    with tempfile.TemporaryDirectory() as out, suppress(Stopped):
        lockstep.train_seeds(environment, experiment, [seed], Path(out), 1, report, stop, {})
    first, (last, update) = told[0][0], told[-1]
    return {
        "seconds": last - first if update.average >= goal else None,
        "steps": update.steps,
        "best_average": max(one.average for _, one in told),
        "compile_seconds": first - began,
    }


def measure(task: str, peer: Peer, seeds: int, seconds: float) -> Row:
    """Contenders in turn, seed after seed."""
    found: dict[str, list[dict[str, Any]]] = {"nac": [], **{name: [] for name in THEIRS}}
    request = {"environment": task, "max_steps": MAX_STEPS.get(task), "goal": GOALS[task], "newest": NEWEST}
    for seed in range(seeds):
        found["nac"].append(ours(task, seconds, seed))
        for name in THEIRS:
            answer = peer.ask(job="goal", algorithm=name, **request, seconds=seconds, seed=seed)
            found[name] += [] if answer is None else [answer]
    return {"goal": GOALS[task], "seeds": seeds, "limit_seconds": seconds, "runs": found}


def shown(runs: list[dict[str, Any]], limit: float) -> str:
    if not runs:
        return "missing"
    reached = [run["seconds"] for run in runs if run["seconds"] is not None]
    best = f"best average {max(run['best_average'] for run in runs if run['best_average'] is not None):.0f}"
    if len(reached) * 2 <= len(runs):
        return f"{len(reached)} of {len(runs)} within {limit:g} s ({best})"
    times = [run["seconds"] if run["seconds"] is not None else float("inf") for run in runs]
    return f"{statistics.median(times):.1f} s ({len(reached)} of {len(runs)})"


def cells(row: Row) -> list[str]:
    compiled = statistics.median(run["compile_seconds"] for run in row["runs"]["nac"])
    times = (shown(row["runs"][name], row["limit_seconds"]) for name in ("nac", *THEIRS))
    return [row["environment"], f"{row['goal']:g}", *times, f"{compiled:.1f} s"]


def main() -> None:
    given = harness.arguments(
        __doc__, seconds=(45.0, "seconds that each contender may take"), seeds=(1, "runs of each")
    )
    about = (
        "Seconds of training until the running average of the training returns (the newest weighs 0.1) "
        "reaches the goal; median over seeds, and how many of them got there in time. Ours: Deep NAC, "
        "preset `robust`, one seed on one core, once compiled. Theirs: defaults, one environment, one "
        "thread. Mountain Car has 200 steps."
    )
    harness.one_core()
    results = Results("goals", "Time to a goal", about, given)
    with Peer("stable_baselines.py") as peer:
        results.peers = peer.versions
        for task in GOALS:
            results.measure({"environment": task}, partial(measure, task, peer, given.seeds, given.seconds))
            results.write(["task", "goal", "offnac NAC", "SB3 A2C", "SB3 PPO", "our compiling"], cells)


if __name__ == "__main__":
    main()
