"""The web page of a run in a simulator."""

from html import escape
from pathlib import Path
from typing import Any

from offnac.errors import UserError
from offnac.evaluation import statistics
from offnac.report import health, page, panels
from offnac.report.choice import middle_seed
from offnac.report.film import caption, film
from offnac.report.filming import filmed
from offnac.report.numbers import plain
from offnac.report.page import Section
from offnac.report.progress import progress
from offnac.report.records import Records, read
from offnac.report.table import Cell, Column, number, table
from offnac.training.seed_folder import SeedFolder

RECORDED = {
    "average": ("Running average of the return", "return"),
    "effective_sample_size": ("Effective sample size of wρ", "share of the rows"),
    "entropy": ("Entropy of the policy", "share of the uniform policy’s"),
}
SEEDS = (
    Column("Seed"),
    Column("Training steps", True),
    Column("Best average", True),
    Column("At episode", True),
    Column("Test of the best", True, "mean and standard error over test episodes"),
    Column("Test of the final", True, "the policy after the last episode"),
)


def document(out: Path, run: dict[str, Any], live: str = "") -> str:
    """The page; ``run`` is what run.json says."""
    records = read(out, run["seeds"], "episodes")
    finished = [one for seed in run["seeds"] if (one := SeedFolder(out, seed).result()) is not None]
    request = run["request"]
    sections = [
        Section("results", "Results", _results(finished)),
        Section("progress", "How far it is", progress(run, records, finished)),
        Section("policy", "The policy at work", _film(out, request["environment"], finished)),
        Section("curves", "Learning", _curves(records, request["algorithm"])),
        Section("learned", "Weights and values", _diagnosis(out, finished)),
        Section("settings", "Settings", page.run_settings(run)),
        Section("provenance", "How it was made", page.provenance(run)),
    ]
    name = panels.ALGORITHMS.get(request["algorithm"], request["algorithm"])
    title = f"{name} on {panels.task(request['environment'])}, preset {request['preset']}"
    return page.document(title, _introduction(run, finished), sections, page.signature(run), live)


def _introduction(run: dict[str, Any], finished: list[dict[str, Any]]) -> str:
    tiles = []
    for name, test in (("best checkpoint", "test"), ("final policy", "final_test")):
        if not finished:
            continue
        found = statistics.across_seeds([one[test]["mean"] for one in finished])
        spread = f"seeds from {plain(found['worst'])} to {plain(found['best'])}"
        tiles.append(page.tile(name, plain(found["iqm"]), f"interquartile mean of the test return; {spread}"))
    done = f"{len(finished)} of {len(run['seeds'])}"
    tiles.append(page.tile("seeds finished", done, f"{run['settings']['episodes']} training episodes each"))
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _results(finished: list[dict[str, Any]]) -> str:
    rows = [
        (
            Cell(str(one["seed"]), one["seed"]),
            number(one["train_steps"], 0),
            number(one["best_average"]),
            number(one["best_episode"], 0),
            *(_test(one[test]) for test in ("test", "final_test")),
        )
        for one in finished
    ]
    return table("Each seed", SEEDS, rows) if rows else ""


def _test(test: dict[str, Any]) -> Cell:
    return Cell(f"{plain(test['mean'])} ± {plain(test['se'])}", test["mean"])


def _middle(finished: list[dict[str, Any]]) -> int:
    return middle_seed([one["seed"] for one in finished], [one["test"]["mean"] for one in finished])


def _film(out: Path, environment: str, finished: list[dict[str, Any]]) -> str:
    if not finished:
        return ""
    seed = _middle(finished)
    try:
        shown = filmed(out / f"seed-{seed}" / "best", environment, seed)
    except (UserError, OSError) as error:
        return f"<p>There is no film: {escape(str(error))}.</p>"
    words = caption(shown, f"seed {seed}, the middle one of {len(finished)}")
    return f'<div class="films">{film(panels.task(environment), words, shown)}</div>'


def _curves(records: Records, algorithm: str) -> str:
    off = algorithm.startswith("off")
    shown = {name: told for name, told in RECORDED.items() if off or name != "effective_sample_size"}
    drawn = health.charts(records, "training episode", shown)
    if not drawn:
        return "<p>No episode has ended yet.</p>"
    average = "of runs of the learned policy" if off else "of the training episodes"
    return (
        f"<p>Interquartile mean over seeds, with the middle half of them as a band. The running average is "
        f"{average}; entropy is told from the actions taken, so that by chance it can be above 1. Point at a "
        f"curve, or use the arrow keys, to read it.</p>\n{drawn}"
    )


def _diagnosis(out: Path, finished: list[dict[str, Any]]) -> str:
    if not finished:
        return ""
    return health.of_seed(out, _middle(finished))
