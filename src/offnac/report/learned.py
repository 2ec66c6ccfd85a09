"""A policy of each task to look at: the middle seed of the best-behaved run, never the luckiest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from offnac.errors import UserError
from offnac.report.animation import Film
from offnac.report.choice import middle_seed
from offnac.report.filming import filmed

PRESETS = ("robust", "published", "paper")
ALGORITHMS = ("offnac", "nac", "offac", "ac")
"""In the order of preference: the paper's own algorithm first."""


class Learned(NamedTuple):
    cell: dict[str, Any]
    seed: int
    film: Film


def films(out: Path, summary: dict[str, Any]) -> list[Learned]:
    """A film for each task of which a policy folder is there."""
    tasks = dict.fromkeys(cell["environment"] for cell in summary["cells"])
    return [found for task in tasks if (found := _film(out, summary, task)) is not None]


def _film(out: Path, summary: dict[str, Any], task: str) -> Learned | None:
    for cell in _preferred(summary, task):
        seed = middle_seed(cell["seeds"], cell["test"]["values"])
        run = out / "runs" / f"{cell['cell']}-{cell['preset']}" / f"seed-{seed}"
        for folder in (run / "best", run / "final"):
            if not folder.is_dir():
                continue
            try:
                return Learned(cell, seed, filmed(folder, task, seed))
            except UserError:
                continue  # diverged or damaged: another one may not be
    return None


def _preferred(summary: dict[str, Any], task: str) -> Iterator[dict[str, Any]]:
    def rank(cell: dict[str, Any]) -> tuple[int, int, bool]:
        return _place(PRESETS, cell["preset"]), _place(ALGORITHMS, cell["algorithm"]), bool(cell["lam"])

    yield from sorted((cell for cell in summary["cells"] if cell["environment"] == task), key=rank)


def _place(order: tuple[str, ...], name: str) -> int:
    return order.index(name) if name in order else len(order)
