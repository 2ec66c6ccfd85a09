"""Any folder that a command left as one web page: a run in a simulator, a run over a log, a search for
settings, a reproduction."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from offnac import files, run_folder
from offnac.errors import UserError
from offnac.experiments.summary import SUMMARY
from offnac.report import from_log, page, reproduction, training, tuning

Document = Callable[[str], str]
"""Makes the page, given the state that it shows where a server tells of the next one."""


def write_report(
    folder: Path | str, *, out: Path | str | None = None, environment: str | None = None
) -> dict[str, Any]:
    """Write what ``folder`` holds as a web page, ``folder/report.html`` unless ``out`` names another.

    ``environment`` is a simulator to hold a policy against that was learned from a log of it.
    """
    folder = Path(folder)
    kind, document = of(folder, environment)
    path = Path(out) if out is not None else folder / reproduction.REPORT
    page.save(path, document(""))
    return {"report": str(path), "kind": kind, "bytes": path.stat().st_size}


def of(folder: Path, environment: str | None = None) -> tuple[str, Document]:
    """What the folder is, and how its page is made."""
    if (folder / SUMMARY).exists():
        return "reproduce", lambda live: reproduction.document(folder, thorough=not live, live=live)
    if not (folder / run_folder.RUN).exists():
        raise UserError(
            f"{folder} is no folder of offnac train, learn, tune or reproduce: it has neither "
            f"{run_folder.RUN} nor {SUMMARY}; give the --out of one of them"
        )
    run = _run(folder)
    if run["format"] == run_folder.TRAINING:
        return "train", lambda live: _checked(folder, lambda run: training.document(folder, run, live))
    if run["format"] == run_folder.TUNING:
        return "tune", lambda live: _checked(folder, lambda run: tuning.document(run, live))
    return "learn", lambda live: _checked(
        folder, lambda run: from_log.document(folder, run, environment, live)
    )


def _run(folder: Path) -> dict[str, Any]:
    run = files.read_json(folder / run_folder.RUN)
    kinds = (run_folder.TRAINING, run_folder.LEARNING, run_folder.TUNING)
    if not isinstance(run, dict) or run.get("format") not in kinds:
        raise UserError(
            f"{folder / run_folder.RUN} does not describe a run of offnac; "
            "give the --out of train, learn or tune"
        )
    return run


def _checked(folder: Path, document: Callable[[dict[str, Any]], str]) -> str:
    """What run.json says may be another version's."""
    try:
        return document(_run(folder))
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{folder} lacks something that its page needs (trouble with {error}); "
            "it may be damaged, or another version's: run the command again"
        ) from error
