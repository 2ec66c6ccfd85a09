"""Learn a policy from a log alone: no simulator is opened, the policy is chosen by held-out episodes."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from offnac import files, run_folder, tracking
from offnac.errors import Stopped, UserError
from offnac.evaluation.audit import audit
from offnac.evaluation.off_policy import ope
from offnac.logs import Log, read_log
from offnac.logs.propensity import known_behaviour
from offnac.presets.changes import changed
from offnac.presets.from_log import ALGORITHMS, from_log, row_for
from offnac.provenance import device, now, versions
from offnac.run_folder import RUN, require_seeds, require_workers
from offnac.saved_policy import load_policy
from offnac.settings import describe
from offnac.settings_file import read_settings
from offnac.suggestions import did_you_mean
from offnac.training.from_log.data import telling_rows
from offnac.training.from_log.folder import LearnFolder
from offnac.training.from_log.potential import find
from offnac.training.from_log.seeds import LearnUpdate, Report, learn_seeds
from offnac.training.from_log.split import split
from offnac.training.from_log.units import units

__all__ = ["LearnUpdate", "learn"]

Fitted = Callable[[str, int, int], None]
"""Told what is fitted, how many steps of that are done, and of how many."""
OPE = ("estimators", "recommended", "reason", "effective_sample_size", "behaviour")
"""What is told of the off-policy values."""


def learn(
    log: Any,
    algorithm: str = "offnac",
    *,
    out: Path | str,
    seeds: int = 1,
    first_seed: int = 0,
    gamma: float | None = None,
    iterations: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    track: str | Sequence[str] = (),
    settings: Mapping[str, Any] | Path | str | None = None,
    report: Report = lambda update: None,
    fitted: Fitted = lambda what, done, of: None,
    stop: Event | None = None,
    **columns: Any,
) -> dict[str, Any]:
    """Learn ``seeds`` policies from a log (whatever :func:`read_log` takes) and choose one.

    ``out/policy`` is the chosen policy; ``out/seed-*`` hold each seed's chosen and last policy, its history
    and what held-out episodes say of the candidates along the way. ``columns`` are :func:`read_log`'s;
    ``track`` names where the runs are shown as they go: tensorboard, wandb, or both; ``settings`` are changes
    of :class:`LogRow`, or a file of them. Without ``gamma`` it is 0.99, or 0.998 where rewards are progress
    (``potential.py``). ``fitted`` is told how far what comes first is, the search for a potential
    and the fit of a model, and ``report`` how far each seed is.
    """
    began = time.perf_counter()
    out, stop = Path(out), stop or Event()
    require_seeds(seeds, first_seed)
    require_workers(workers)
    track = tracking.require(track)
    _require_numbers(algorithm, gamma, iterations)
    source = None if isinstance(log, Log) else log
    # Before the log is read, which may take long; whether it is the same run is asked once it is.
    if (out / RUN).exists() and not resume:
        run_folder.before(out, run_folder.LEARNING, {}, {}, resume)
    log = known_behaviour(log if isinstance(log, Log) else read_log(log, **columns))
    if algorithm != "bc":
        _require_something_to_learn(log)
    log_units = units(log)
    changes = None if settings is None else read_settings(settings, "learn")
    # Told before the search for a potential, which may take long.
    asked = changed(row_for(len(log)), changes or {}, log.spec)
    _require_numbers(algorithm, asked.gamma, asked.iterations)
    seen, held_out = split(log)
    all_seeds = list(range(first_seed, first_seed + seeds))
    potential, found = None, _found_before(out, all_seeds)
    if found is None and algorithm != "bc":
        potential = find(seen, held_out, log_units, partial(fitted, "what shapes rewards"), stop)
        found = {"shaped": potential.shaped, "prices": potential.price.tolist()}
    found = found or {"shaped": False, "prices": []}
    row = changed(row_for(len(log), found["shaped"]), changes or {}, log.spec)
    experiment = from_log(
        algorithm,
        log.spec,
        log_units.reward,
        gamma=gamma,
        iterations=iterations,
        prices=found["prices"],
        row=row,
    )
    gamma = float(experiment.algorithm.gamma)
    request = {
        "algorithm": algorithm,
        "gamma": gamma,
        "iterations": iterations,
        "log": _fingerprint(log),
        **({} if changes is None else {"settings": changes}),
    }
    described = {"algorithm": describe(experiment.algorithm), "drawing": describe(experiment.drawing)}
    before = run_folder.before(out, run_folder.LEARNING, request, described, resume)
    record = {
        "format": run_folder.LEARNING,
        "request": request,
        "source": str(source) if isinstance(source, str | Path) else None,
        "seeds": sorted({*before.get("seeds", ()), *all_seeds}),
        "settings": described,
        **found,
        "device": device(),
        "versions": versions(),
        "date": now(),
        "seconds": before.get("seconds", 0.0),
    }
    files.write_json(out / RUN, record)
    began -= record["seconds"]
    try:
        with tracking.following(track, out, all_seeds, "history", record, report) as told:
            runs = learn_seeds(
                seen,
                held_out,
                log_units,
                potential,
                experiment,
                all_seeds,
                out,
                workers=workers or os.cpu_count() or 1,
                report=told,
                modelled=partial(fitted, "a model of the log"),
                stop=stop,
                provenance={"request": request},
            )
        run_folder.write_csv(out, record["seeds"], "history")
    except BaseException:
        # Why it ended matters more than a disk that is too full for this number.
        with suppress(OSError):
            files.write_json(out / RUN, record | {"seconds": time.perf_counter() - began})
        raise
    chosen = max(runs, key=lambda run: run["selected"]["value"])
    with files.replacing(out / "policy") as temporary:
        shutil.copytree(chosen["policy"], temporary)
    policy = load_policy(out / "policy")
    _go_on(stop)
    values = ope(policy, held_out, gamma=gamma)
    _go_on(stop)
    support = audit(log, policy, gamma=gamma)
    seconds = time.perf_counter() - began
    result = {
        "policy": str(out / "policy"),
        "rows": len(log),
        "episodes": log.episodes,
        "seconds": seconds,
        "algorithm": algorithm,
        "behaviour": log.behaviour,
        "selected": {"seed": chosen["seed"], **chosen["selected"]},
        "ope": {"held_out_episodes": held_out.episodes, **{name: values[name] for name in OPE}},
        "weights": support["policy"]["histogram"],
        "verdict": support["verdict"],
        "reasons": support["reasons"],
        "warnings": list(log.warnings),
        "runs": runs,
    }
    files.write_json(out / RUN, record | {"seconds": seconds, "result": result})
    return result


def _found_before(out: Path, seeds: Sequence[int]) -> dict[str, Any] | None:
    """What was found in the rewards, where all seeds have finished; else None, for it is to be found."""
    if not all(LearnFolder(out, seed).result() for seed in seeds) or not (out / RUN).exists():
        return None
    record = files.read_json(out / RUN)
    if not isinstance(record, dict) or not {"shaped", "prices"} <= record.keys():
        return None
    return {"shaped": record["shaped"], "prices": record["prices"]}


def _go_on(stop: Event) -> None:
    """The seeds are saved: what follows them takes a while, and a stop need not wait for it."""
    if stop.is_set():
        raise Stopped


def _require_numbers(algorithm: str, gamma: float | None, iterations: int | None) -> None:
    if algorithm not in ALGORITHMS:
        hint = did_you_mean(algorithm, ALGORITHMS, f"choose one of {', '.join(ALGORITHMS)}")
        raise UserError(f"learn has no algorithm '{algorithm}'; {hint}")
    if gamma is not None and not 0.0 < gamma < 1.0:
        raise UserError(
            f"γ must lie in (0, 1), but it is {gamma}; choose --gamma between 0 and 1, both excluded"
        )
    if iterations is not None and not 1 <= iterations < 2**31:
        raise UserError(
            f"the number of iterations must be from 1 to 2147483647, but --iterations is {iterations}"
        )


def _require_something_to_learn(log: Log) -> None:
    """Where every decision earned the same and nothing ever ended, no policy is better than another."""
    if not len(telling_rows(log, 1.0)):
        raise UserError(
            f"there is nothing to learn from this log: every reward in it is {float(log.rows.reward[0]):g} "
            "and no episode terminated, so that all policies are worth the same; "
            "record rewards that differ, or where the task ended"
        )
    if log.spec.actions < 2:
        raise UserError(
            "there is nothing to learn from this log: it has only one action; "
            "give --actions where there were others to choose from"
        )


def _fingerprint(log: Log) -> str:
    """Names the log's content, so that a run is only gone on with on the same log."""
    digest = hashlib.sha256()
    for column in (*log.rows, log.episode):
        digest.update(np.ascontiguousarray(column).data)
    return f"{len(log)} rows, sha256 {digest.hexdigest()[:16]}"
