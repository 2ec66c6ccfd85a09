"""The picture of README and the site's first page: every seed of preset robust, and the paper's one run.

Drawn by ``make docs`` from results/paper/summary.json alone.
"""

import io
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from offnac.experiments.figures import KINDS, NATURAL, STYLE, VANILLA

ROOT = Path(__file__).parents[1]
SUMMARY = ROOT / "results" / "paper" / "summary.json"
PICTURE = ROOT / "docs" / "assets" / "overview.svg"
NAMES = {"ac": "AC", "nac": "NAC", "offac": "OffAC", "offnac": "OffNAC"}
PRESET = "robust"


def picture() -> str:
    """The picture as SVG; the same numbers give the same text."""
    cells = [cell for cell in json.loads(SUMMARY.read_text())["cells"] if cell["preset"] == PRESET]
    panels: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        title = cell["environment"].split("-")[0] + ("" if cell["lam"] is None else ", TD(λ)")
        panels.setdefault(title, []).append(cell)
    # Letters as outlines: every viewer shows the same.
    with matplotlib.rc_context(STYLE | {"svg.fonttype": "path"}):
        rows = -(-len(panels) // 2)
        drawing = Figure(figsize=(6.6, 0.3 + 2.4 * rows), layout="constrained")
        places = drawing.subplots(rows, 2, squeeze=False).flat
        for axes, (title, shown) in zip(places, panels.items(), strict=False):
            _panel(axes, title, shown)
        for axes in drawing.axes[len(panels) :]:
            axes.remove()
        counts = [len(cell["seeds"]) for cell in cells]
        seeds = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{max(counts)}"
        drawing.suptitle(
            f"Test return of {seeds} seeds (dots; bar: interquartile mean) and of the paper's one run (line)",
            fontsize=9.5,
        )
        with io.StringIO() as text:
            drawing.savefig(text, format="svg", metadata=KINDS["svg"])
            return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _panel(axes: Any, title: str, cells: list[dict[str, Any]]) -> None:
    costs = all(cell["paper"]["mean"] < 0 for cell in cells)
    sign = -1.0 if costs else 1.0
    for place, cell in enumerate(cells):
        values = sign * np.asarray(cell["test"]["values"])
        beside = place + np.random.default_rng(0).uniform(-0.28, 0.28, len(values))
        colour = NATURAL if cell["algorithm"].endswith("nac") else VANILLA
        axes.plot(beside, values, "o", color=colour, markersize=3, alpha=0.45, markeredgewidth=0)
        axes.hlines(sign * cell["test"]["iqm"], place - 0.36, place + 0.36, color=colour, linewidth=4)
        axes.hlines(sign * cell["paper"]["mean"], place - 0.45, place + 0.45, color="black", linewidth=1.6)
    axes.set_title(title, fontsize=10)
    axes.set_xticks(range(len(cells)), [NAMES[cell["algorithm"]] for cell in cells], fontsize=8.5)
    axes.grid(axis="x", visible=False)
    if costs:  # logarithmic in what an episode costs, upside down: better is higher everywhere
        axes.set_yscale("log")
        axes.invert_yaxis()
        ticks = (80, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000)
        low, high = sorted(axes.get_ylim())
        axes.set_yticks([tick for tick in ticks if low <= tick <= high], minor=False)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"−{value:g}"))
        axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))


if __name__ == "__main__":
    PICTURE.write_text(picture())
