"""On-line training of many seeds, each chunk of episodes saved as it ends.

JAX-native tasks: one program per seed, seeds spread over cores by threads (a
compiled program holds no Python lock), those of long runs by processes, see
:mod:`offnac.workers`; on a GPU all of them in one, see :mod:`batched`.
Gymnasium tasks: see :mod:`lockstep`.
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import jax

from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.training import batched, checkpoint, lockstep, native
from offnac.training.progress import Report, Stopped, Update, silent
from offnac.training.protocol import Experiment, start
from offnac.training.seed_folder import SeedFolder
from offnac.training.shared import GiveWay, never, train_shared
from offnac.training.threads import over_threads, run_in_caller

CAPACITY = 64
"""Episodes in a chunk at most."""
CHUNK_SECONDS = 1.0
"""How long a chunk should take: what a killed run can lose."""


def train_seeds(
    environment: Environment | HostEnvironment,
    experiment: Experiment,
    seeds: Sequence[int],
    out: Path,
    *,
    test_episodes: int = 1000,
    workers: int = 1,
    report: Report = silent,
    stop: Event | None = None,
    provenance: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Train every seed that is not finished in ``out`` yet; the seeds' results, in order."""
    stop, provenance = stop or Event(), provenance or {}
    if not is_native(environment):
        return lockstep.train_seeds(
            environment, experiment, seeds, out, test_episodes, report, stop, provenance
        )
    if jax.default_backend() == "gpu":
        return batched.train_seeds(
            environment, experiment, seeds, out, test_episodes, report, stop, provenance
        )

    def one(seed: int) -> dict[str, Any]:
        result = _train_seed(
            environment, experiment, out, test_episodes, report, stop, provenance, seed, never
        )
        assert result is not None
        return result

    return over_threads(one, seeds, workers, stop)


def share_seeds(
    environment: Environment,
    experiment: Experiment,
    seeds: Sequence[int],
    out: Path,
    *,
    test_episodes: int,
    processes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
) -> None:
    """The part of one process, of several, in training all seeds of a JAX-native task."""
    run_in_caller()
    one = partial(_train_seed, environment, experiment, out, test_episodes, report, stop, provenance)
    train_shared(one, seeds, out, experiment.episodes, processes, stop)


def _train_seed(
    environment: Environment,
    experiment: Experiment,
    out: Path,
    test_episodes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
    seed: int,
    gives_way: GiveWay,
) -> dict[str, Any] | None:
    """The seed's result; none where it gave way to another."""
    folder = SeedFolder(out, seed)
    if (finished := folder.result()) is not None:
        report(
            Update(
                seed,
                experiment.episodes,
                experiment.episodes,
                finished["train_steps"],
                finished["final_average"],
            )
        )
        return finished
    run = start(experiment.algorithm, experiment.protocol, environment.spec, jax.random.key(seed))
    run, records = folder.load(run)
    count = 1
    while (done := int(run.episode)) < experiment.episodes:
        if stop.is_set():
            raise Stopped
        count = min(count, experiment.episodes - done)
        began = time.perf_counter()
        run, new = native.chunk(
            environment, experiment.algorithm, experiment.protocol, run, count, capacity=CAPACITY
        )
        records = checkpoint.append(records, new, count)
        folder.save(run, records)
        report(Update(seed, done + count, experiment.episodes, int(run.train_steps), float(run.average)))
        seconds = time.perf_counter() - began
        if done + count < experiment.episodes and gives_way(done + count):
            return None
        count = max(1, min(CAPACITY, 2 * count, int(count * CHUNK_SECONDS / seconds)))
    return folder.finish(environment, experiment, run, records, test_episodes, provenance, stop)
