"""Every cell of the paper's tables, across seeds, ours beside theirs."""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from offnac import files
from offnac.errors import UserError
from offnac.experiments import figures, pool
from offnac.experiments.cells import select_cells, select_presets
from offnac.experiments.jobs import Settings, cores_of_each, plan
from offnac.experiments.publish import publish as publish_results
from offnac.experiments.summary import FORMAT, SUMMARY, Summary
from offnac.report import reproduction as report_page
from offnac.training.progress import Stopped

FAILURES = "failures"
PAPERS = Settings()


def reproduce(
    *,
    out: Path | str,
    cells: Sequence[str] = ("*",),
    presets: Sequence[str] | None = None,
    settings: Settings = PAPERS,
    workers: int | None = None,
    resume: bool = False,
    publish: Path | str | None = None,
    report: pool.Report = pool.silent,
    stop: Event | None = None,
) -> dict[str, Any]:
    """Train and test the chosen cells under the chosen presets; the summary, which is also in ``out``.

    Each run is left as :func:`offnac.api.train` leaves it, in ``out/runs/CELL-PRESET``. With ``resume``
    finished runs stay as they are, unfinished ones go on, and cells, presets and seeds may be added.
    """
    out, stop = Path(out), stop or Event()
    jobs = plan(select_cells(cells), select_presets(presets), settings)
    cores_of_each(workers, len(jobs))  # refuses a wrong number before anything is written
    _require_place(out, settings, resume)
    summary = Summary(out, settings, [job.name for job in jobs])
    summary.write()
    open_jobs = [job for job in jobs if not job.is_finished(out)]
    failures: dict[str, str] = {}
    began, before = time.perf_counter(), summary.seconds

    def ended(outcome: pool.Outcome) -> None:
        job = outcome.job
        if outcome.complaint:
            failures[job.name] = outcome.complaint
            with files.replacing(out / FAILURES / f"{job.name}.txt") as temporary:
                temporary.write_text(outcome.complaint + "\n")
        elif not outcome.stopped:
            (out / FAILURES / f"{job.name}.txt").unlink(missing_ok=True)
        summary.add(job.cell, job.preset)
        if outcome.seconds:
            summary.took(job.name, outcome.seconds)
        summary.seconds = before + time.perf_counter() - began
        summary.write()

    pool.run(
        open_jobs,
        out,
        workers=workers,
        gpu=any(job.native for job in open_jobs) and pool.sees_gpu(),
        finished=len(jobs) - len(open_jobs),
        report=report,
        stop=stop,
        ended=ended,
    )
    found = summary.write()
    summary.write_curves()
    if stop.is_set() and any(not job.is_finished(out) for job in jobs):
        raise Stopped
    if found["cells"]:
        figures.draw(out)
        report_page.write(out)
    if failures:
        raise UserError(_complaint(failures, len(jobs), out))
    if publish is not None:
        publish_results(out, Path(publish))
    return found


def _require_place(out: Path, settings: Settings, resume: bool) -> None:
    """A new place; or, to go on, a reproduction of the same protocol."""
    if not resume and out.exists():
        raise UserError(
            f"{out} exists already; go on in it with --resume, choose another --out, or remove it first"
        )
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / SUMMARY).exists():
        raise UserError(f"{out} exists already and holds no reproduction; choose another --out")
    before = files.read_json(out / SUMMARY)
    if not isinstance(before, dict) or before.get("format") != FORMAT:
        raise UserError(f"{out / SUMMARY} does not describe a reproduction; choose another --out")
    for name, new in settings.protocol.items():
        old = before["settings"].get(name)
        if old != new:
            raise UserError(
                f"{out} was begun with {name} = {old}, but now it is {new}; "
                "resume with the same options, or choose another --out"
            )


def _complaint(failures: dict[str, str], jobs: int, out: Path) -> str:
    name, text = next(iter(failures.items()))
    return (
        f"{len(failures)} of {jobs} runs failed, such as {name} ({text.splitlines()[-1]}); all complaints "
        f"are in {out / FAILURES}, everything else is saved, and --resume tries again"
    )
