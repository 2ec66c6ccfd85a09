"""The search for the settings of ``learn``, on logs of seeds below 1000, by rollouts.

Each candidate changes some settings of the default (``offnac.presets.from_log.LogRow``); it learns from every
log, some of its policies on the way are tested, and a line with the outcome is added to
``results/learn/search.jsonl``:

    .venv/bin/python benchmarks/learn_search.py lunar-lander --logs 8 \
        --candidates '[{}, {"gamma": 0.999}, {"kl": [0.0005, 0.002]}]'

A list stands for each of its values in turn. Where JAX sees a GPU, all candidates of one shape, all logs and
all runs are lanes of one program; elsewhere they learn one after another.
"""

import argparse
import json
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from learn import TASKS
from robust_search import each, on_the_host

import offnac
from offnac import environments
from offnac.evaluation import rollout
from offnac.logs import Log, read_log
from offnac.presets.changes import changed
from offnac.presets.from_log import LogRow, from_log, row_for
from offnac.provenance import now, versions
from offnac.saved_policy import Policy
from offnac.training.from_log import potential, program
from offnac.training.from_log.data import load
from offnac.training.from_log.judge import hold_out
from offnac.training.from_log.program import Candidate, LogExperiment, Source
from offnac.training.from_log.seeds import CAPACITY, prepare
from offnac.training.from_log.split import split
from offnac.training.from_log.units import Units, units
from offnac.transition import Spec

OUT = Path(__file__).parents[1] / "results" / "learn" / "search.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--logs", type=int, default=8)
    parser.add_argument("--first-log", type=int, default=0, help="its seed")
    parser.add_argument("--runs", type=int, default=1, help="of each candidate on each log")
    parser.add_argument("--candidates", default="[{}]", help="a JSON list of changed settings")
    parser.add_argument("--tested", type=int, default=8, help="policies on the way that are tested")
    parser.add_argument("--episodes", type=int, default=24, help="that each is tested by")
    parser.add_argument("--algorithm", default="offnac")
    parser.add_argument("--rows", type=int, help="of a log; by default the task's")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that step simulators")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    seeds = list(range(given.first_log, given.first_log + given.logs))
    if seeds[-1] >= 1000:
        parser.error("logs from 1000 on are for reporting")
    candidates = [change for one in json.loads(given.candidates) for change in each(LogRow, one)]
    with ProcessPoolExecutor(
        given.processes, mp_context=get_context("spawn"), initializer=on_the_host
    ) as pool:
        began = time.perf_counter()
        logs = list(pool.map(partial(collected, given.task, given.rows), seeds))
        print(f"{len(logs)} logs in {time.perf_counter() - began:.0f} s", flush=True)
        known = [Prepared(log) for log in logs]
        groups: dict[Any, list[int]] = {}
        experiments = [[one.experiment(change, given.algorithm) for one in known] for change in candidates]
        for index, (first, *_) in enumerate(experiments):
            shape = jax.tree.structure((first.algorithm, first.drawing))
            groups.setdefault((shape, first.iterations), []).append(index)
        for members in groups.values():
            learned(given, pool, seeds, known, members, candidates, experiments)


def collected(task: str, rows: int | None, seed: int) -> Log:
    chosen = TASKS[task]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        steps = rows or chosen.rows
        offnac.collect(chosen.environment, steps=steps, out=path, first_seed=seed, max_steps=chosen.max_steps)
        return read_log(path)


class Prepared:
    """A log with what is found in it once, whatever the settings."""

    def __init__(self, log: Log) -> None:
        self.log, self.units = log, units(log)
        self.seen, self.held = split(log)
        self.potential = potential.find(self.seen, self.held, self.units, quietly, Event())
        self.sources: dict[Any, Source] = {}

    def experiment(self, change: dict[str, Any], algorithm: str) -> LogExperiment:
        row = changed(row_for(len(self.log), self.potential.shaped), change, self.log.spec)
        prices = self.potential.price.tolist()
        return from_log(algorithm, self.log.spec, self.units.reward, prices=prices, row=row)

    def source(self, experiment: LogExperiment) -> Source:
        """What it draws from: the same for all that look as far ahead with the same model."""
        imagination, horizon = experiment.drawing.imagination, 1.0 / (1.0 - float(experiment.algorithm.gamma))
        model = (jax.tree.structure(imagination.model), *jax.tree.leaves(imagination.model))
        key = (horizon, imagination.share > 0.0, model)
        if key not in self.sources:
            data, held = load(self.seen, self.units, horizon), hold_out(self.held, self.units, horizon)
            self.sources[key], _ = prepare(
                data, held, self.units, self.potential, experiment, quietly, Event()
            )
        return self.sources[key]


def quietly(done: int, of: int) -> None:
    """Tells nobody."""


def learned(
    given: argparse.Namespace,
    pool: ProcessPoolExecutor,
    seeds: list[int],
    known: list[Prepared],
    members: list[int],
    candidates: list[dict[str, Any]],
    experiments: list[list[LogExperiment]],
) -> None:
    """Candidates of one shape, all lanes of one program."""
    began = time.perf_counter()
    lanes = [(index, log, run) for index in members for log in range(len(known)) for run in range(given.runs)]
    sources = {(index, log): known[log].source(experiments[index][log]) for index, log, _ in lanes}
    print(f"  models in {time.perf_counter() - began:.0f} s", flush=True)
    first, iterations = experiments[members[0]][0], experiments[members[0]][0].iterations
    given_to = [
        (sources[index, log], experiments[index][log].algorithm, experiments[index][log].drawing)
        for index, log, _ in lanes
    ]
    spec = Spec("", known[0].log.spec.observation_size, known[0].log.spec.actions)
    keys = [jax.random.key(1000 * run + seeds[log]) for _, log, run in lanes]
    learn = together if jax.default_backend() == "gpu" else in_turn
    theta = learn(given_to, spec, keys, first.every, iterations)[:, : first.candidates]
    seconds = time.perf_counter() - began
    print(f"  learned in {seconds:.0f} s", flush=True)
    at = np.linspace(first.candidates / given.tested, first.candidates, given.tested).round()
    at = np.unique(np.maximum(at, 1.0))
    jobs = []
    for lane, (index, log, _) in enumerate(lanes):
        averaged = Candidate(jnp.asarray(theta[lane]), jnp.zeros(len(theta[lane]))).averaged().theta
        network: Any = experiments[index][log].algorithm.policy.network
        kept = np.asarray(averaged)[at.astype(int) - 1]
        jobs.append((given.task, network, kept, known[log].units, given.episodes))
    curves = np.array(list(pool.map(tested, jobs, chunksize=1)))
    curves = curves.reshape(len(members), len(lanes) // len(members), -1)
    late = max(1, len(at) // 4)
    for index, curve in zip(members, curves, strict=True):
        line = {
            "task": given.task,
            "change": candidates[index]
            | ({} if given.algorithm == "offnac" else {"algorithm": given.algorithm}),
            "rows": len(known[0].log),
            "logs": [seeds[0], seeds[-1]],
            "runs": given.runs,
            "iterations": iterations,
            "at": (at * first.every).astype(int).tolist(),
            "best": np.round(curve.max(axis=1), 1).tolist(),
            "last": np.round(curve[:, -1], 1).tolist(),
            "late": np.round(curve[:, -late:].mean(axis=1), 1).tolist(),
            "curves": np.round(curve, 1).tolist(),
            "episodes": given.episodes,
            "seconds": round(seconds / len(members), 1),
            "versions": versions(),
            "date": now(),
        }
        means = ", ".join(f"{name} {np.mean(line[name]):.1f}" for name in ("best", "late", "last"))
        print(
            f"{given.task} {line['change']} {iterations}: {means}; last {line['last']}; "
            f"median curve {np.round(np.median(curve, axis=0)).astype(int).tolist()}",
            flush=True,
        )
        given.out.parent.mkdir(parents=True, exist_ok=True)
        with given.out.open("a") as file:
            file.write(json.dumps(line) + "\n")


def together(lanes: list[Any], spec: Spec, keys: list[Any], every: int, iterations: int) -> Any:
    """The candidates of each, all of them lanes of one program."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *lanes)
    runs = jax.jit(jax.vmap(lambda lane, key: program.start(lane[1], lane[2], spec, key)))(
        stacked, jnp.stack(keys)
    )

    @partial(jax.jit, donate_argnames="runs")
    def chunk(stacked: Any, runs: Any, count: int) -> Any:
        def one(lane: Any, run: Any) -> Any:
            return program.chunk(*lane, every, run, count, capacity=CAPACITY)[0]

        return jax.vmap(one)(stacked, runs)

    for start in range(0, iterations, CAPACITY):
        runs = jax.block_until_ready(chunk(stacked, runs, min(CAPACITY, iterations - start)))
    return np.asarray(runs.candidates.theta)


def in_turn(lanes: list[Any], spec: Spec, keys: list[Any], every: int, iterations: int) -> Any:
    """The same, one after another: on a CPU many small products at once are slower than each on its own."""
    thetas = []
    for lane, key in zip(lanes, keys, strict=True):
        run = program.start(lane[1], lane[2], spec, key)
        for start in range(0, iterations, CAPACITY):
            run, _ = program.chunk(*lane, every, run, min(CAPACITY, iterations - start), capacity=CAPACITY)
        thetas.append(np.asarray(run.candidates.theta))
    return np.stack(thetas)


def tested(job: tuple[str, Any, Any, Units, int]) -> list[float]:
    """The mean return of each of some policies."""
    task, network, thetas, scaling, episodes = job
    simulator = environments.make(TASKS[task].environment, TASKS[task].max_steps)
    return [
        float(
            rollout.returns(
                simulator,
                Policy(network, jnp.asarray(theta), simulator.spec, scaling.mean, scaling.scale),
                episodes,
                777,
            ).mean()
        )
        for theta in thetas
    ]


if __name__ == "__main__":
    main()
