"""The search for the settings of ``learn``, on logs below 1000.

Each candidate changes some settings (``offnac.presets.from_log.LogRow``, or ``gamma`` and ``iterations``);
it learns from every log, and policies along the way are tested in the simulator. A line with the outcome is
added to ``results/learn/search.jsonl``:

    .venv/bin/python benchmarks/learn_search.py lunar-lander --logs 4 --candidates '[{}, {"depth": [8, 32]}]'

A list stands for each of its values in turn. All candidates and logs of one shape learn in one program, which
wants a GPU; a task of the host's is played by ``--workers`` processes.
"""

import argparse
import itertools
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from learn import TASKS

import offnac
from offnac import environments
from offnac.behaviour import Acting
from offnac.environments.episode import finish
from offnac.environments.normalised import Normalised
from offnac.logs import read_log
from offnac.presets.from_log import LogRow, from_log
from offnac.provenance import now, versions
from offnac.training.from_log import model, program
from offnac.training.from_log.data import load
from offnac.training.from_log.judge import MEMBERS, HeldOut, _judge
from offnac.training.from_log.split import split
from offnac.training.from_log.units import units

OUT = Path(__file__).parents[1] / "results" / "learn" / "search.jsonl"
CHUNK = 50


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--logs", type=int, default=4)
    parser.add_argument("--first-log", type=int, default=0)
    parser.add_argument("--candidates", default="[{}]", help="a JSON list of changed settings")
    parser.add_argument("--scan", type=int, default=20, help="policies tested along the way")
    parser.add_argument("--episodes", type=int, default=20, help="rollouts that each is tested by")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, default=Path("/tmp/offnac-logs"), help="where logs are kept")
    parser.add_argument("--judge", action="store_true", help="also what held-out episodes say of them")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    seeds = list(range(arguments.first_log, arguments.first_log + arguments.logs))
    if seeds[-1] >= 1000:
        parser.error("logs from 1000 on are for reporting")
    candidates = [change for given in json.loads(arguments.candidates) for change in each(given)]
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn"), initializer=on_cpu) as pool:
        paths = list(pool.map(partial(recorded, arguments.task, arguments.rows, arguments.keep), seeds))
        logs = [read_log(path) for path in paths]
        say(f"{len(logs)} logs of {len(logs[0])} rows")
        groups: dict[Any, list[int]] = {}
        built = [build(change, logs) for change in candidates]
        for index, experiment in enumerate(built):
            shape = jax.tree.structure((experiment.algorithm, experiment.drawing))
            groups.setdefault((shape, experiment.iterations), []).append(index)
        for members in groups.values():
            began = time.perf_counter()
            search(arguments, logs, seeds, [(candidates[i], built[i]) for i in members], pool)
            say(f"{len(members)} candidates in {time.perf_counter() - began:.0f} s")


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def on_cpu() -> None:
    jax.config.update("jax_platforms", "cpu")
    os.environ["OMP_NUM_THREADS"] = "1"


def recorded(name: str, rows: int | None, folder: Path, seed: int) -> Path:
    task = TASKS[name]
    rows = rows or task.rows
    path = folder / f"{name}-{rows}-{seed}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.parquet")
        offnac.collect(task.environment, steps=rows, out=part, first_seed=seed, max_steps=task.max_steps)
        part.rename(path)
    return path


def each(change: dict[str, Any]) -> list[dict[str, Any]]:
    """A change for every combination of the values listed in it."""
    tuples = {field.name for field in fields(LogRow) if "tuple" in str(field.type)}
    choices = [
        value if isinstance(value, list) and (name not in tuples or isinstance(value[0], list)) else [value]
        for name, value in change.items()
    ]
    return [dict(zip(change, combination, strict=True)) for combination in itertools.product(*choices)]


def build(change: dict[str, Any], logs: Any) -> Any:
    changed = {name: tuple(v) if isinstance(v, list) else v for name, v in change.items()}
    other = {name: changed.pop(name) for name in ("gamma", "iterations") if name in changed}
    row = LogRow(**changed)
    reward = float(np.mean([units(log).reward for log in logs]))
    return from_log("offnac", logs[0].spec, reward, row=row, **other)


def stacked(trees: list[Any]) -> Any:
    """Many trees as one, arrays of different lengths padded with zeros."""

    def stack(*leaves: Any) -> Any:
        length = max((leaf.shape[0] for leaf in leaves), default=0) if leaves[0].ndim else 0
        if not leaves[0].ndim:
            return jnp.stack(leaves)
        return jnp.stack(
            [jnp.pad(leaf, [(0, length - leaf.shape[0])] + [(0, 0)] * (leaf.ndim - 1)) for leaf in leaves]
        )

    return jax.tree.map(stack, *trees)


def search(arguments: Any, logs: Any, seeds: list[int], chosen: Any, pool: Any) -> None:
    experiments = [experiment for _, experiment in chosen]
    first = experiments[0]
    horizon = 1.0 / (1.0 - float(first.algorithm.gamma))
    parts = [split(log) for log in logs]
    scales = [units(log) for log in logs]
    seen = [load(part[0], scale, horizon) for part, scale in zip(parts, scales, strict=True)]
    held = [load(part[1], scale, horizon) for part, scale in zip(parts, scales, strict=True)]
    # The reward's unit is the logs' common one here, so that one program serves all.
    leaves = [jax.tree.leaves((e.algorithm, e.drawing)) for e in experiments]
    differs = [any(other[i] != leaves[0][i] for other in leaves) for i in range(len(leaves[0]))]
    structure = jax.tree.structure((first.algorithm, first.drawing))
    values = [
        jnp.asarray([other[i] for other in leaves]) if differs[i] else leaves[0][i]
        for i in range(len(leaves[0]))
    ]
    settings = jax.tree.unflatten(structure, values)
    axes = jax.tree.unflatten(structure, [0 if one else None for one in differs])
    if not any(differs):  # vmap wants something to map over
        values[-1] = jnp.asarray([leaves[0][-1]] * len(experiments))
        settings = jax.tree.unflatten(structure, values)
        axes = jax.tree.unflatten(structure, [None] * (len(values) - 1) + [0])
    data, ranges = stacked(seen), stacked([model.ranges(one) for one in seen])
    spec = logs[0].spec
    keys = jnp.stack([jax.random.key(seed) for seed in seeds])

    def lanes(function: Any, *per_lane: int) -> Any:
        """Over candidates, then logs."""
        inner = jax.vmap(function, in_axes=(None, 0, *(0 for _ in per_lane)))
        return jax.vmap(inner, in_axes=(axes, None, *per_lane))

    def fitted(members: int, settings: Any, log: Any) -> Any:
        _, drawing = settings
        data, ranges, key = log
        return replace(drawing.model, members=members).fit(data, ranges, drawing.share, key)

    began = time.perf_counter()
    models = None
    if first.drawing.depth:
        fitting = jax.jit(lanes(partial(fitted, first.drawing.model.members)))
        models = jax.block_until_ready(fitting(settings, (data, ranges, keys)))
        say(f"models fitted in {time.perf_counter() - began:.0f} s")
    runs = jax.jit(lanes(lambda settings, log: program.start(settings[0], spec, log)))(settings, keys)

    @jax.jit
    def advance(models: Any, runs: Any, count: Any) -> Any:
        def lane(settings: Any, data: Any, state: Any, run: Any) -> Any:
            source = program.Source(data, state)
            return program.chunk(source, *settings, first.every, run, count, capacity=CHUNK)

        return lanes(lane, 0, 0)(settings, data, models, runs)

    records = []
    for done in range(0, first.iterations, CHUNK):
        count = min(CHUNK, first.iterations - done)
        runs, record = advance(models, runs, count)
        records.append(program.LogRecord(*(np.asarray(leaf[..., count - 1]) for leaf in record)))
        if done // CHUNK % 10 == 0:
            say(f"  {done + count} iterations, {time.perf_counter() - began:.0f} s")
    learned = time.perf_counter() - began
    judged = None
    if arguments.judge:
        held = stacked(held)
        others = jax.jit(lanes(partial(fitted, MEMBERS)))(settings, (held, ranges, keys))

        def verdicts(settings: Any, log: Any, others: Any, thetas: Any) -> Any:
            held, key = log
            return jax.lax.map(lambda theta: _judge(*settings, HeldOut(held, others), theta, key)[0], thetas)

        values = jax.jit(lanes(verdicts, 0, 0))(settings, (held, keys), others, runs.candidates)
        judged = {"held_out_model": values}
        judged = {name: np.asarray(value, float) for name, value in judged.items()}
        say(f"judged after {time.perf_counter() - began:.0f} s")
    number = np.unique(np.linspace(0, first.candidates - 1, arguments.scan + 1).astype(int)[1:])
    thetas = np.asarray(runs.candidates[:, :, number])
    task = TASKS[arguments.task]
    environment = environments.make(task.environment, task.max_steps)
    if environments.is_native(environment):
        returns = played(environment, first.algorithm.policy, thetas, scales, arguments.episodes)
    else:
        network = first.algorithm.policy.network
        jobs = [
            (
                task.environment,
                (network.hidden, network.bias),
                scales[s].mean,
                scales[s].scale,
                thetas[c, s, i],
            )
            for c, s, i in itertools.product(*map(range, thetas.shape[:3]))
        ]
        tests = list(pool.map(partial(tested, arguments.episodes), jobs, chunksize=2))
        returns = np.array(tests).reshape(*thetas.shape[:3], -1)
    say(f"played in {time.perf_counter() - began - learned:.0f} s")
    for c, (change, experiment) in enumerate(chosen):
        curve = returns[c, :, :, 0]
        line = {
            "task": arguments.task,
            "change": change,
            "rows": len(logs[0]),
            "logs": [seeds[0], seeds[-1]],
            "iterations": experiment.iterations,
            "at": ((number + 1) * experiment.every).tolist(),
            "best": np.round(curve.max(1), 1).tolist(),
            "last": np.round(curve[:, -1], 1).tolist(),
            "late": np.round(curve[:, -max(1, len(number) // 4) :].mean(1), 1).tolist(),
            "curves": np.round(curve, 1).tolist(),
            "episodes": arguments.episodes,
            "value": np.round([record.value[c] for record in records], 2).T.tolist(),
            "entropy": np.round([record.entropy[c] for record in records], 3).T.tolist(),
            "effective_sample_size": np.round(
                [record.effective_sample_size[c] for record in records], 3
            ).T.tolist(),
            "seconds": round(learned / len(chosen), 1),
            "device": jax.devices()[0].device_kind,
            "versions": versions(),
            "date": now(),
        }
        if returns.shape[-1] > 1:
            line["details"] = np.round(returns[c, :, :, 1:].mean(0), 2).tolist()
        if judged is not None:
            line["judged"] = {
                name: np.round(value[c][:, number].reshape(len(seeds), len(number), -1).mean(-1), 2).tolist()
                for name, value in judged.items()
            }
        middle = np.round(np.median(curve, axis=0), 0).astype(int).tolist()
        best, late = np.mean(line["best"]), np.mean(line["late"])
        say(f"{change}: best {best:.1f}, late {late:.1f} {line['late']}, on the way {middle}")
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with arguments.out.open("a") as file:
            file.write(json.dumps(line) + "\n")


def played(environment: Any, policy: Any, thetas: Any, scales: Any, episodes: int) -> Any:
    @jax.jit
    def test(thetas: Any, mean: Any, scale: Any) -> Any:
        shown = Normalised(environment, mean, scale)

        def one(theta: Any, key: Any) -> Any:
            return finish(shown, Acting(policy, theta), key)[0]

        keys = jax.random.split(jax.random.key(999), episodes)
        return jax.vmap(lambda theta: jax.vmap(partial(one, theta))(keys).mean())(thetas)

    found = [
        [
            test(thetas[c, s], jnp.asarray(scales[s].mean), jnp.asarray(scales[s].scale))
            for s in range(len(scales))
        ]
        for c in range(len(thetas))
    ]
    return np.asarray(found, float)[..., None]


def tested(episodes: int, job: Any) -> list[float]:
    """The mean return of a policy, in NumPy, its length, and the shares of episodes that ended with a reward
    above 50, with one below −50, and by the time limit."""
    task, (hidden, bias), scales, theta = job
    environment, rng = environments.make(task), np.random.default_rng(999)
    sizes = (environment.spec.observation_size, *hidden, environment.spec.actions)
    layers, place = [], 0
    for a, b in itertools.pairwise(sizes):
        weight = theta[place : place + a * b].reshape(b, a)
        place += a * b
        offset = theta[place : place + b] if bias else 0.0
        place += b if bias else 0
        layers.append((weight, offset))
    found = []
    for _ in range(episodes):
        observation, done, total, length = environment.reset(int(rng.integers(2**31))), False, 0.0, 0
        while not done:
            shown = (observation - scales.mean) / scales.scale
            for weight, offset in layers[:-1]:
                shown = np.tanh(weight @ shown + offset)
            logits = layers[-1][0] @ shown + layers[-1][1]
            action = int(np.argmax(logits + rng.gumbel(size=len(logits))))
            observation, reward, terminated, truncated = environment.step(action)
            total, length, done = total + reward, length + 1, terminated or truncated
        found.append((total, length, reward > 50, reward < -50, truncated))
    return np.mean(found, axis=0).tolist()


if __name__ == "__main__":
    main()
