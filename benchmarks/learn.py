"""What ``offnac learn`` makes of logs of uniform behaviour: one default setting, a fresh log for every seed.

For each seed: a log is collected, the command learns from it alone (its seconds and the CPU's are told), and
only then a simulator is opened to see what the chosen policy, the last one and the best one on the way are
worth. Writes ``results/learn/TASK.json`` after every seed; a seed that is there already is not run again.

    .venv/bin/python benchmarks/learn.py                      hours on 2 cores
    .venv/bin/python benchmarks/learn.py cartpole --seeds 4   one task, fewer seeds
    .venv/bin/python benchmarks/learn.py acrobot --alone 3    only its seconds, with all cores
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import offnac
from offnac import environments, files
from offnac.evaluation import rollout, statistics
from offnac.provenance import now, versions
from offnac.saved_policy import Policy
from offnac.training.from_log.folder import LearnFolder

RESULTS = Path(__file__).parents[1] / "results" / "learn"
SCAN = 1 << 20
"""Sets the seeds of the rollouts that the best is looked for by apart from those of its test: else what was
luck in the first would count in the second."""


@dataclass(frozen=True)
class Task:
    environment: str
    rows: int
    max_steps: int | None
    chosen: float
    """What the chosen policy should reach, by interquartile mean over seeds."""
    best: float
    """What the best policy on the way should reach."""
    seconds: float
    episodes: int = 1000
    """Rollouts that a policy is tested by."""
    scan: int = 1000
    """Rollouts that the best of the candidates is looked for by; it is then tested by others."""


TASKS = {
    "cartpole": Task("CartPole-v1", 22_000, None, 490.0, 499.0, 60.0),
    "acrobot": Task("Acrobot-v1", 250_000, None, -90.0, -82.0, 60.0),
    "mountain-car": Task("MountainCar-v0", 2_000_000, 10_000, -120.0, -106.0, 120.0, scan=250),
    "lunar-lander": Task("LunarLander-v3", 600_000, None, 150.0, 215.0, 600.0, episodes=200, scan=24),
}


class Learned(NamedTuple):
    out: Path
    said: dict[str, Any]
    seconds: float
    cpu_seconds: float


def learn(task: Task, seed: int, folder: Path) -> Learned:
    """A fresh log, and what the command makes of it."""
    log, out = folder / "log.parquet", folder / "run"
    offnac.collect(task.environment, steps=task.rows, out=log, first_seed=seed, max_steps=task.max_steps)
    command = [
        sys.executable,
        "-m",
        "offnac",
        "learn",
        str(log),
        "--out",
        str(out),
        "--first-seed",
        str(seed),
    ]
    began, used = time.perf_counter(), cpu_seconds()
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return Learned(out, json.loads(done.stdout), time.perf_counter() - began, cpu_seconds() - used)


def run_seed(task: Task, seed: int, folder: Path) -> dict[str, Any]:
    out, result, seconds, used = learn(task, seed, folder)
    simulator = environments.make(task.environment, task.max_steps)

    def test(policy: Policy, episodes: int, seed: int = seed) -> float:
        return float(rollout.returns(simulator, policy, episodes, seed).mean())

    home = out / f"seed-{seed}"
    chosen, last = (offnac.load_policy(home / name) for name in ("selected", "last"))
    candidates = LearnFolder(out, seed).candidates()
    scanned = [test(candidate, task.scan, SCAN + seed) for candidate in candidates]
    return {
        "seed": seed,
        "seconds": seconds,
        "cpu_seconds": used,
        "chosen": test(chosen, task.episodes),
        "last": test(last, task.episodes),
        "best": test(candidates[int(np.argmax(scanned))], task.episodes),
        "scanned": scanned,
        "selected": result["selected"],
        "ope": result.get("ope"),
        "verdict": result.get("verdict"),
    }


def cpu_seconds() -> float:
    """Of all commands so far: what they would take on a core that nobody else wants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def alone(task: Task, seeds: range) -> dict[str, Any]:
    """What the command takes where nothing else runs. The first log is not counted: it compiles."""
    took = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            took.append(learn(task, seed, Path(folder)).seconds)
    return {
        "cores": os.cpu_count(),
        "first": took[0],
        "seconds": took[1:],
        "median_seconds": float(np.median(took[1:])),
        "versions": versions(),
        "date": now(),
    }


def summary(name: str, task: Task, seeds: list[dict[str, Any]], machine: str) -> dict[str, Any]:
    across = {
        policy: statistics.across_seeds([one[policy] for one in seeds])
        for policy in ("chosen", "best", "last")
    }
    seconds = [one["seconds"] for one in seeds]
    return {
        "task": name,
        **asdict(task),
        "across": across,
        "median_seconds": float(np.median(seconds)),
        "slowest_seconds": float(np.max(seconds)),
        "median_cpu_seconds": float(np.median([one["cpu_seconds"] for one in seeds])),
        "machine": machine,
        "versions": versions(),
        "date": now(),
        "seeds": seeds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS), metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--machine", default=f"{os.cpu_count()} cores", help="what the seconds are of")
    parser.add_argument("--alone", type=int, help="only time so many logs, after one that compiles")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    for name in arguments.tasks:
        task, path = TASKS[name], arguments.out / f"{name}.json"
        first = arguments.first_seed
        if arguments.alone:
            timed = alone(task, range(first, first + arguments.alone + 1))
            print(f"{name}: {timed['median_seconds']:.0f} s", flush=True)
            files.write_json(path, files.read_json(path) | {"alone": timed})
            continue
        seeds = files.read_json(path)["seeds"] if path.exists() else []
        for seed in range(first, first + arguments.seeds):
            if seed in [one["seed"] for one in seeds]:
                continue
            folder = Path(tempfile.mkdtemp())
            try:
                seeds = sorted([*seeds, run_seed(task, seed, folder)], key=lambda one: one["seed"])
            finally:
                shutil.rmtree(folder)
            found = summary(name, task, seeds, arguments.machine)
            files.write_json(path, found)
            one = next(one for one in seeds if one["seed"] == seed)
            print(
                f"{name} {seed}: chosen {one['chosen']:.1f}, best {one['best']:.1f}, last {one['last']:.1f}, "
                f"{one['seconds']:.0f} s; across seeds chosen {found['across']['chosen']['iqm']:.1f}, "
                f"best {found['across']['best']['iqm']:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
