"""On-line training of many seeds in one program: what a GPU is good at.

The program is the one that a CPU runs for a single seed (:mod:`native`), under ``vmap``; where there is a
kernel for the experiment (:mod:`on_chip`) and it is asked for, that one. The seeds of a call start together
and are saved together.
"""

import os
import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from offnac.actor_critic import ActorCritic
from offnac.environments.environment import Environment
from offnac.training import checkpoint, native
from offnac.training.checkpoint import Columns
from offnac.training.progress import Report, Stopped, Update
from offnac.training.protocol import Experiment, Protocol, Record, Run, one_of, start
from offnac.training.seed_folder import SeedFolder

ON_CHIP = "OFFNAC_ON_CHIP"
"""The variable that asks for the kernel, with 1: on trial until it has been measured as it is now."""
CAPACITY = 64
"""Episodes in a chunk at most."""
CHUNK_SECONDS = 5.0
"""How long a chunk should take."""
SAVE_SHARE = 0.1
"""Of the time that saving may take: memories for replay are large."""
SEEDS = "seeds"


@partial(jax.jit, static_argnames="capacity", donate_argnames="runs")
def chunk(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    runs: Run,
    episodes: int,
    capacity: int,
) -> tuple[Run, Record]:
    """:func:`native.chunk` of many runs, whose memories there is no room for twice."""

    def one(run: Run) -> tuple[Run, Record]:
        return native.chunk(environment, algorithm, protocol, run, episodes, capacity, together=SEEDS)

    return jax.vmap(one, axis_name=SEEDS)(runs)


def train_seeds(
    environment: Environment,
    experiment: Experiment,
    seeds: Sequence[int],
    out: Path,
    test_episodes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
) -> list[dict[str, Any]]:
    """Train every seed that is not finished in ``out`` yet; the seeds' results, in order."""
    folders = {seed: SeedFolder(out, seed) for seed in seeds}
    loaded: list[tuple[SeedFolder, Run, Columns]] = []
    for folder in folders.values():
        if folder.result() is None:
            key = jax.random.key(folder.seed)
            first = start(experiment.algorithm, experiment.protocol, environment.spec, key)
            loaded.append((folder, *folder.load(first)))
    # A kill between two saves leaves seeds at different episodes: those at the same one go on together.
    loaded.sort(key=lambda one: int(one[1].episode))
    groups = [list(group) for _, group in groupby(loaded, key=lambda one: int(one[1].episode))]
    del loaded
    for group in groups:
        members = [folder for folder, _, _ in group]
        runs: Run = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(run for _, run, _ in group))
        records = [columns for _, _, columns in group]
        group.clear()
        runs, records = _train(environment, experiment, members, runs, records, report, stop)
        for index, folder in enumerate(members):
            folder.finish(
                environment, experiment, one_of(runs, index), records[index], test_episodes, provenance, stop
            )
    return [folder.result() or {} for folder in folders.values()]


def _train(
    environment: Environment,
    experiment: Experiment,
    folders: Sequence[SeedFolder],
    runs: Run,
    records: list[Columns],
    report: Report,
    stop: Event,
) -> tuple[Run, list[Columns]]:
    done, count, saved, saving = int(runs.episode[0]), 1, time.perf_counter(), 1.0
    settings = (environment, experiment.algorithm, experiment.protocol)
    # Off-policy not yet: its runs are not shown to be distributed like the reference's.
    program = chunk
    if os.environ.get(ON_CHIP) == "1" and not experiment.protocol.off_policy:
        from offnac.training import on_chip  # its compiler takes most of a second to import

        program = on_chip.chunk if on_chip.has_compiler() and on_chip.fits(*settings) else chunk

    def save() -> None:
        for index, folder in enumerate(folders):
            folder.save(one_of(runs, index), records[index])

    while done < experiment.episodes:
        count = min(count, experiment.episodes - done)
        began = time.perf_counter()
        runs, new = program(*settings, runs, count, CAPACITY)
        rows = jax.device_get(new)
        records = [
            checkpoint.append(record, Record(*(column[index] for column in rows)), count)
            for index, record in enumerate(records)
        ]
        done += count
        steps, average = np.asarray(runs.train_steps), np.asarray(runs.average)
        for index, folder in enumerate(folders):
            report(Update(folder.seed, done, experiment.episodes, int(steps[index]), float(average[index])))
        now = time.perf_counter()
        count = max(1, min(CAPACITY, 2 * count, int(count * CHUNK_SECONDS / (now - began))))
        if stop.is_set() or now - saved > saving / SAVE_SHARE:
            save()
            saved = time.perf_counter()
            saving = saved - now
        if stop.is_set() and done < experiment.episodes:
            raise Stopped
    return runs, records
