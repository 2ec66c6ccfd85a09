"""The search for the ``robust`` preset's settings, on seeds below 1000.

Each candidate changes some settings of a task's row (``offnac.presets.robust.RobustRow``); all its seeds
are trained and tested, and a line with the outcome is added to ``results/robust/search.jsonl``:

    .venv/bin/python benchmarks/robust_search.py MountainCar-v0 offnac --seeds 8 \
        --candidates '[{}, {"kl": 0.001}, {"updates": [2, 4]}]'

A list stands for each of its values in turn. Where JAX sees a GPU, all candidates and seeds of one shape
run in one program; elsewhere seed after seed.
"""

import argparse
import itertools
import json
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from offnac import presets
from offnac.behaviour import Acting
from offnac.environments import is_native, make
from offnac.environments.episode import finish
from offnac.environments.normalised import Normalised
from offnac.evaluation import statistics
from offnac.presets import robust
from offnac.provenance import now, versions
from offnac.training import native
from offnac.training.learn import learn_from
from offnac.training.protocol import start
from offnac.training.replay import STARTS, Memory
from offnac.training.stream import train_seeds
from offnac.transition import Transition

OUT = Path(__file__).parents[1] / "results" / "robust" / "search.jsonl"
LANES = "lanes"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task")
    parser.add_argument("algorithm", choices=presets.ALGORITHMS)
    parser.add_argument("--lam", type=float, default=0.0)
    parser.add_argument("--episodes", type=int, help="training episodes; by default the preset's")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--test-episodes", type=int, default=200)
    parser.add_argument("--candidates", default="[{}]", help="a JSON list of changed settings")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop training after this long")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that step a host's task")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    seeds = list(range(arguments.first_seed, arguments.first_seed + arguments.seeds))
    if seeds[-1] >= 1000:
        parser.error("seeds from 1000 on are for reporting")
    environment = make(arguments.task, max_steps=presets.max_steps(arguments.task))
    candidates = [
        change for given in json.loads(arguments.candidates) for change in each(robust.RobustRow, given)
    ]
    experiments = [build(environment.spec, arguments, change) for change in candidates]
    many = jax.default_backend() == "gpu"
    groups: dict[Any, list[int]] = {}
    for index, experiment in enumerate(experiments):
        shape = jax.tree.structure((experiment.algorithm, experiment.protocol)) if many else index
        groups.setdefault((shape, experiment.episodes), []).append(index)
    for members in groups.values():
        began = time.perf_counter()
        chosen = [experiments[index] for index in members]
        if many:
            search = in_lanes if is_native(environment) else blindly
            outcomes = search(environment, chosen, seeds, arguments)
        else:
            outcomes = [one_by_one(environment, experiment, seeds, arguments) for experiment in chosen]
        seconds = time.perf_counter() - began
        for index, outcome in zip(members, outcomes, strict=True):
            line = {
                "task": arguments.task,
                "algorithm": arguments.algorithm,
                "lam": arguments.lam,
                "change": candidates[index],
                "seeds": [seeds[0], seeds[-1]],
                **{f"{name}": statistics.across_seeds(outcome[name]) for name in ("best", "final")},
                "values": {name: np.round(outcome[name], 1).tolist() for name in ("best", "final")},
                "episodes": outcome["episodes"],
                **({"curve": outcome["curve"].tolist()} if "curve" in outcome else {}),
                "seconds": round(seconds / len(members), 1),
                "device": jax.default_backend(),
                "versions": versions(),
                "date": now(),
            }
            best, final = line["best"], line["final"]
            print(
                f"{arguments.task} {arguments.algorithm} λ {arguments.lam:g} {candidates[index]} "
                f"[{outcome['episodes']} episodes, {seconds:.0f} s]: "
                f"best {best['iqm']:.1f} (worst {best['worst']:.1f}) "
                f"final {final['iqm']:.1f} (worst {final['worst']:.1f})",
                flush=True,
            )
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            with arguments.out.open("a") as file:
                file.write(json.dumps(line) + "\n")


def each(row: Any, change: dict[str, Any]) -> list[dict[str, Any]]:
    """A change of such a row for every combination of the values listed in it."""
    tuples = {field.name for field in fields(row) if "tuple" in str(field.type)}
    choices = [
        value if isinstance(value, list) and (name not in tuples or isinstance(value[0], list)) else [value]
        for name, value in change.items()
    ]
    return [dict(zip(change, combination, strict=True)) for combination in itertools.product(*choices)]


def build(spec: Any, arguments: argparse.Namespace, change: dict[str, Any]) -> presets.Experiment:
    numbers = {"lam": arguments.lam, "episodes": arguments.episodes}
    return presets.experiment("robust", arguments.algorithm, spec, **numbers, settings=change)


def one_by_one(environment: Any, experiment: Any, seeds: list[int], arguments: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        runs = train_seeds(
            environment, experiment, seeds, Path(folder), test_episodes=arguments.test_episodes
        )
    means = {name: [run[test]["mean"] for run in runs] for name, test in TESTS.items()}
    return {**means, "episodes": experiment.episodes}


TESTS = {"best": "test", "final": "final_test"}


def in_lanes(environment: Any, experiments: Any, seeds: list[int], arguments: Any) -> list[dict[str, Any]]:
    """Every candidate and seed a lane of one program."""
    lanes = [(experiment.algorithm, experiment.protocol) for experiment in experiments for _ in seeds]
    settings = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *lanes)
    keys = jnp.stack([jax.random.key(seed) for _ in experiments for seed in seeds])
    runs = jax.vmap(lambda one, key: start(*one, environment.spec, key))(settings, keys)

    @jax.jit
    def chunk(runs: Any, episodes: int) -> Any:
        def one(one: Any, run: Any) -> Any:
            return native.chunk(environment, *one, run, episodes, 1024, together=LANES)[0]

        return jax.vmap(one, axis_name=LANES)(settings, runs)

    @jax.jit
    def test(theta: Any, key: Any) -> Any:
        def lane(one: Any, theta: Any) -> Any:
            algorithm, protocol = one
            shown = environment
            if protocol.mean is not None:
                shown = Normalised(environment, protocol.mean, protocol.scale)

            def episode(key: Any) -> Any:
                return finish(shown, Acting(algorithm.policy, theta), key)[0]

            return jax.vmap(episode)(jax.random.split(key, arguments.test_episodes)).mean()

        return jax.vmap(lane)(settings, theta)

    began, done, total = time.perf_counter(), 0, experiments[0].episodes
    while done < total and time.perf_counter() - began < arguments.seconds:
        count = min(10, total - done)
        runs = jax.block_until_ready(chunk(runs, count))
        done += count
        if done % 50 == 0:
            print(f"  {done} episodes {time.perf_counter() - began:.0f} s", flush=True)
    shape, key = (len(experiments), len(seeds)), jax.random.key(12345)
    best = np.asarray(test(runs.best_theta, key), float).reshape(shape)
    final = np.asarray(test(runs.learner.learned, key), float).reshape(shape)
    return [{"best": b, "final": f, "episodes": done} for b, f in zip(best, final, strict=True)]


def blindly(environment: Any, experiments: Any, seeds: list[int], arguments: Any) -> list[dict[str, Any]]:
    """Off-policy in a task of the host's: what μ does depends on nothing that is learned, so its episodes
    are played first, then all candidates and seeds learn in one program, and then some of the policies on
    the way are tested. The best is chosen by four episodes and tested by others."""
    if not experiments[0].protocol.off_policy:
        raise SystemExit("a task of the host's is searched on a GPU only off-policy")
    protocol, episodes = experiments[0].protocol, experiments[0].episodes
    count = len(seeds)
    with ProcessPoolExecutor(
        arguments.processes, mp_context=get_context("spawn"), initializer=on_the_host
    ) as pool:
        played = list(pool.map(play, [arguments.task] * count, seeds, [episodes] * count))
        size = protocol.replay.capacity
        memories = []
        for rows, ends in played:
            kept = [np.zeros((size, *column.shape[1:]), column.dtype) for column in rows]
            for room, column in zip(kept, rows, strict=True):
                room[: len(column)] = column[:size]
            shift, scale = np.asarray(protocol.mean, np.float32), np.asarray(protocol.scale, np.float32)
            kept[0], kept[3] = (kept[0] - shift) / scale, (kept[3] - shift) / scale
            memories.append((Transition(*kept), np.minimum(ends, size).astype(np.int32)))
        memories = jax.tree.map(lambda *leaves: jnp.stack(leaves), *memories)
        settings = [(experiment.algorithm, experiment.protocol) for experiment in experiments]
        settings = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *settings)

        @jax.jit
        def learn(settings: Any, rows: Any, ends: Any, key: Any) -> Any:
            algorithm, protocol = settings
            first = rows.step[: len(ends)] * 0 + jnp.append(0, ends[:-1])
            starts = rows.observation[first[jnp.linspace(0, len(ends) - 1, STARTS).astype(int)]]

            def episode(learner: Any, number: Any) -> Any:
                memory = Memory(rows, ends[number], starts, jnp.int32(STARTS))
                key_ = jax.random.fold_in(key, number)
                learner, _, ess = learn_from(memory, None, algorithm, protocol, learner, number, key_)
                return learner, (learner.learned, ess)

            learner = algorithm.init(key, environment.spec)
            return jax.lax.scan(episode, learner, jnp.arange(len(ends)))[1]

        keys = jnp.stack([jax.random.key(seed) for seed in seeds])
        lanes = jax.vmap(jax.vmap(learn, in_axes=(None, 0, 0, 0)), in_axes=(0, None, None, None))
        thetas, _ = lanes(settings, *memories, keys)
        every = max(1, episodes // 16)
        thetas = np.asarray(thetas[:, :, every - 1 :: every])
        print(f"  learned {thetas.shape}", flush=True)
        policy = (experiments[0].algorithm.policy.network.hidden, protocol.mean, protocol.scale)
        jobs = [
            (arguments.task, policy, thetas[c, s], 4, 777)
            for c in range(len(experiments))
            for s in range(count)
        ]
        curves = np.array(list(pool.map(tested, jobs, chunksize=1))).reshape(len(experiments), count, -1)
        chosen = curves.argmax(-1)
        again = [
            (arguments.task, policy, thetas[c, s, [chosen[c, s], -1]], 20, 999)
            for c in range(len(experiments))
            for s in range(count)
        ]
        final = np.array(list(pool.map(tested, again, chunksize=1))).reshape(len(experiments), count, 2)
    return [
        {"best": f[:, 0], "final": f[:, 1], "episodes": episodes, "curve": np.round(np.median(c, 0), 0)}
        for f, c in zip(final, curves, strict=True)
    ]


def on_the_host() -> None:
    """A process that only steps a task needs no part of the GPU."""
    jax.config.update("jax_platforms", "cpu")


def play(task: str, seed: int, episodes: int) -> Any:
    """Whole episodes of the uniform behaviour, as columns, and where each ends."""
    environment, rng = make(task), np.random.default_rng(seed)
    rows, ends = [], []
    for _ in range(episodes):
        observation, done, step = environment.reset(int(rng.integers(2**31))), False, 0
        while not done:
            action = int(rng.integers(environment.spec.actions))
            following, reward, terminated, truncated = environment.step(action)
            prob = 1.0 / environment.spec.actions
            rows.append((observation, action, reward, following, terminated, truncated, prob, step))
            observation, done, step = following, terminated or truncated, step + 1
        ends.append(len(rows))
    dtypes = (np.float32, np.int32, np.float32, np.float32, bool, bool, np.float32, np.int32)
    columns = [
        np.asarray(column, dtype) for column, dtype in zip(zip(*rows, strict=True), dtypes, strict=True)
    ]
    return columns, np.array(ends)


def tested(job: Any) -> list[float]:
    """The mean return of each of some policies, in NumPy: a network of one hidden layer of tanh."""
    task, (hidden, mean, scale), thetas, episodes, seed = job
    environment = make(task)
    d, a, h = environment.spec.observation_size, environment.spec.actions, hidden[0]
    means = []
    for theta in thetas:
        first, second = theta[: d * h].reshape(h, d), theta[d * h :].reshape(a, h)
        rng, total = np.random.default_rng(seed), 0.0
        for _ in range(episodes):
            observation, done = environment.reset(int(rng.integers(2**31))), False
            while not done:
                shown = (observation - np.asarray(mean)) / np.asarray(scale)
                logits = second @ np.tanh(first @ shown)
                action = int(np.argmax(logits + rng.gumbel(size=a)))
                observation, reward, terminated, truncated = environment.step(action)
                total, done = total + reward, terminated or truncated
        means.append(total / episodes)
    return means


if __name__ == "__main__":
    main()
