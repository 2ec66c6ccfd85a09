"""Several seeds learn from one log, each chunk of iterations saved as it ends."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import jax

from offnac.errors import Stopped
from offnac.logs.log import Log
from offnac.training import checkpoint
from offnac.training.checkpoint import Columns
from offnac.training.from_log import program
from offnac.training.from_log.choose import choose
from offnac.training.from_log.data import LogData, load
from offnac.training.from_log.folder import LearnFolder
from offnac.training.from_log.imagination import Foresight
from offnac.training.from_log.judge import HeldOut, hold_out, judge
from offnac.training.from_log.model import fit
from offnac.training.from_log.potential import Potential, over_rows
from offnac.training.from_log.program import Candidate, LogExperiment, LogRun, Source
from offnac.training.from_log.ranges import of_rewards, ranges_of
from offnac.training.from_log.units import Units
from offnac.training.progress import Fitting
from offnac.training.threads import over_threads
from offnac.transition import Spec

CAPACITY = 64
"""Iterations in a chunk at most."""
CHUNK_SECONDS = 1.0
"""How long a chunk should take: what a killed run can lose."""
JUDGE = 0x1D6E
"""Sets the random numbers of judging apart from those of learning."""


class LearnUpdate(NamedTuple):
    """News of one seed."""

    seed: int
    iterations: int
    of: int
    value: float
    entropy: float
    effective_sample_size: float


Report = Callable[[LearnUpdate], None]


class _Task(NamedTuple):
    experiment: LogExperiment
    units: Units
    spec: Spec
    source: Source
    held: HeldOut
    out: Path
    report: Report
    stop: Event
    provenance: dict[str, Any]


def learn_seeds(
    seen: Log,
    held_out: Log,
    units: Units,
    potential: Potential | None,
    experiment: LogExperiment,
    seeds: Sequence[int],
    out: Path,
    *,
    workers: int,
    report: Report,
    modelled: Fitting,
    stop: Event,
    provenance: dict[str, Any],
) -> list[dict[str, Any]]:
    """Learn from ``seen`` every seed that is not finished in ``out`` yet, and choose by ``held_out``; the
    seeds' results, in order."""
    finished = [result for seed in seeds if (result := LearnFolder(out, seed).result()) is not None]
    if len(finished) == len(seeds):
        return finished
    horizon = 1.0 / (1.0 - float(experiment.algorithm.gamma))
    data = load(seen, units, horizon)
    source, held = prepare(
        data, hold_out(held_out, units, horizon), units, potential, experiment, modelled, stop
    )
    task = _Task(
        experiment,
        units,
        seen.spec,
        source,
        held,
        out,
        report,
        stop,
        provenance,
    )
    return over_threads(lambda seed: _learn_seed(task, seed), seeds, workers, stop)


def prepare(
    data: LogData,
    held: HeldOut,
    units: Units,
    potential: Potential | None,
    experiment: LogExperiment,
    modelled: Fitting,
    stop: Event,
) -> tuple[Source, HeldOut]:
    """The log with the potential taken out of its rewards, and a model of the rest."""
    drawing, gamma = experiment.drawing, float(experiment.algorithm.gamma)
    if potential is None:
        return Source(data), held
    ranges = ranges_of(data, units, drawing.imagination.model.actions)
    data, judged = (over_rows(one, potential.taken_out) for one in (data, held.data))
    foresight = None
    if drawing.imagination.share:
        model = fit(drawing.imagination.model, data, of_rewards(ranges, data), modelled, stop)
        foresight = Foresight(model, potential)
    discounted = partial(potential.discounted, gamma=gamma)
    data, judged = (over_rows(one, discounted) for one in (data, judged))
    return Source(data, foresight), held._replace(data=judged, promised=potential(judged.starts))


def _learn_seed(task: _Task, seed: int) -> dict[str, Any]:
    folder, experiment = LearnFolder(task.out, seed), task.experiment
    if (finished := folder.result()) is not None:
        return finished
    spec = Spec("", task.spec.observation_size, task.spec.actions)  # a name would mean another program
    first = program.start(experiment.algorithm, experiment.drawing, spec, jax.random.key(seed))
    run, records = folder.load(first)
    run = _iterate(task, folder, run, records)
    candidates = Candidate(*(part[: experiment.candidates] for part in run.candidates)).averaged()
    key = jax.random.fold_in(jax.random.key(seed), JUDGE)
    judgement = judge(experiment.algorithm, experiment.drawing, task.held, candidates, key)
    chosen = choose(judgement, experiment.every, experiment.iterations)
    return folder.finish(experiment, task.spec, task.units, candidates, judgement, chosen, task.provenance)


def _iterate(task: _Task, folder: LearnFolder, run: LogRun, records: Columns) -> LogRun:
    experiment, count = task.experiment, 1
    while (done := int(run.iteration)) < experiment.iterations:
        if task.stop.is_set():
            raise Stopped
        count = min(count, experiment.iterations - done)
        began = time.perf_counter()
        run, new = program.chunk(
            task.source,
            experiment.algorithm,
            experiment.drawing,
            experiment.every,
            run,
            count,
            capacity=CAPACITY,
        )
        records = checkpoint.append(records, new, count)
        folder.save(run, records)
        latest = (float(records[name][-1]) for name in program.LogRecord._fields)
        task.report(LearnUpdate(folder.seed, done + count, experiment.iterations, *latest))
        seconds = time.perf_counter() - began
        count = max(1, min(CAPACITY, 2 * count, int(count * CHUNK_SECONDS / seconds)))
    return run
