"""Tune: search for the settings that an environment, or a log, is learned best with."""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from offnac import environments, extras, files, presets, run_folder
from offnac.errors import UserError
from offnac.logs import Log, read_log
from offnac.provenance import device, now, versions
from offnac.report import page, tuning
from offnac.run_folder import RUN, require_seeds, require_workers
from offnac.settings import describe
from offnac.settings_file import write_settings
from offnac.tuning.objective import FromLog, InSimulator
from offnac.tuning.progress import Report
from offnac.tuning.search import check, search_on
from offnac.tuning.space import space
from offnac.tuning.study import Study

RESERVED = 1000
"""The first seed that results are reported on: settings may not be chosen by it."""
LOGS = (".parquet", ".csv", ".csv.gz", ".tsv")


def tune(
    source: Any,
    algorithm: str = "offnac",
    *,
    out: Path | str,
    trials: int = 20,
    seeds: int = 2,
    first_seed: int = 0,
    check_seeds: int | None = None,
    search: Sequence[str] | None = None,
    workers: int | None = None,
    resume: bool = False,
    report: Report = lambda update: None,
    stop: Event | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Search for better settings of ``train --preset robust`` (``source`` is an environment's id) or of
    ``learn`` (it is a log, whatever :func:`offnac.read_log` takes).

    The first trial is the settings as they are. In a simulator the best ones are then compared with them on
    ``check_seeds`` seeds that the search has not seen. ``out/best.json`` is for ``--settings``,
    ``out/report.html`` to look at. ``options`` are numbers of every run: lam, gamma, episodes, test_episodes,
    max_steps; of a log gamma, iterations, and its columns. ``trials`` counts all: a resumed search may go on
    to more.
    """
    extras.load("optuna", "tuning needs", "tune")
    out, stop = Path(out), stop or Event()
    options = {name: value for name, value in options.items() if value is not None}
    simulated = not is_log(source)
    check_seeds = (seeds if check_seeds is None else check_seeds) if simulated else 0
    _require_numbers(trials, seeds, first_seed, check_seeds)
    require_workers(workers)
    objective = (_in_simulator if simulated else _from_log)(source, algorithm, options)
    objective.options["workers"] = workers
    searched = space(objective.known, algorithm, search, objective.row)
    first = {name: describe(getattr(objective.row, name)) for name in searched}
    request = {
        "source": source if isinstance(source, str) else str(getattr(source, "name", type(source).__name__)),
        "command": objective.command,
        "algorithm": algorithm,
        "seeds": seeds,
        "first_seed": first_seed,
        "search": list(searched),
        **{name: value for name, value in objective.options.items() if name != "workers"},
    }
    described = {"space": describe(searched)}
    before = run_folder.before(out, run_folder.TUNING, request, described, resume)
    out.mkdir(parents=True, exist_ok=True)
    study = Study(out / "study.db", searched, first)
    record = {
        "format": run_folder.TUNING,
        "request": request,
        "settings": described,
        "unit": objective.unit,
        "device": device(),
        "versions": versions(),
        "date": now(),
        "seconds": before.get("seconds", 0.0),
    }
    began = time.perf_counter() - record["seconds"]

    def save(**more: Any) -> dict[str, Any]:
        known = [trial._asdict() for trial in study.trials()]
        told = record | {"trials": known, "seconds": time.perf_counter() - began} | more
        files.write_json(out / RUN, told)
        return told

    save()
    search_on(study, objective, out, trials, seeds, first_seed, report, stop, save)
    best, checked = study.best(), None
    if check_seeds and best.number:
        checked = check(objective, best, first, out, first_seed + seeds, check_seeds, report, stop)
    write_settings(out / "best.json", objective.command, best.settings, {"request": request, "date": now()})
    done = study.trials()
    result = {
        **{name: request[name] for name in ("source", "command", "algorithm")},
        "unit": objective.unit,
        "trials": len(done),
        "failed": sum(trial.value is None for trial in done),
        "first": {"value": done[0].value, "settings": first},
        "best": best._asdict(),
        "check": checked,
        "settings": str(out / "best.json"),
        "page": str(out / "report.html"),
        "seconds": time.perf_counter() - began,
    }
    page.save(out / "report.html", tuning.document(save(result=result)))
    return result


def is_log(source: Any) -> bool:
    """Everything but an environment's id."""
    if not isinstance(source, str):
        return True
    return source.startswith("minari:") or source.endswith(LOGS) or Path(source).exists()


def _require_numbers(trials: int, seeds: int, first_seed: int, check_seeds: int) -> None:
    require_seeds(seeds, first_seed)
    if trials < 1:
        raise UserError(f"at least one trial is needed, but --trials is {trials}")
    if check_seeds < 0:
        raise UserError(f"the number of seeds to check with cannot be negative, but it is {check_seeds}")
    if first_seed + seeds + check_seeds > RESERVED:
        raise UserError(
            f"settings are chosen on seeds below {RESERVED}, those from there on are for results, but seeds "
            f"up to {first_seed + seeds + check_seeds - 1} were asked for; choose a smaller --first-seed"
        )


def _in_simulator(environment: str, algorithm: str, options: dict[str, Any]) -> InSimulator:
    task = environments.make(environment, options.get("max_steps"))
    presets.experiment("robust", algorithm, task.spec)
    return InSimulator(environment, algorithm, {"test_episodes": 200, **options})


def _from_log(source: Any, algorithm: str, options: dict[str, Any]) -> FromLog:
    numbers: dict[str, Any] = {name: options.pop(name) for name in ("gamma", "iterations") if name in options}
    log = source if isinstance(source, Log) else read_log(source, **options)
    return FromLog(log, algorithm, numbers)
