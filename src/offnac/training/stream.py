"""On-line training of many seeds, each chunk of episodes saved as it ends.

JAX-native tasks: one program per seed, seeds spread over cores by threads (a
compiled program holds no Python lock), those of long runs by processes, see
:mod:`offnac.workers`; on a GPU all of them in one, see :mod:`batched`.
Gymnasium tasks: see :mod:`lockstep`.
"""

import time
from collections.abc import Sequence
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
from offnac.training.threads import over_threads

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
        return _train_seed(environment, experiment, seed, out, test_episodes, report, stop, provenance)

    return over_threads(one, seeds, workers, stop)


def _train_seed(
    environment: Environment,
    experiment: Experiment,
    seed: int,
    out: Path,
    test_episodes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
) -> dict[str, Any]:
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
        count = max(1, min(CAPACITY, 2 * count, int(count * CHUNK_SECONDS / seconds)))
    return folder.finish(environment, experiment, run, records, test_episodes, provenance, stop)
