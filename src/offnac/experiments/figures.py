"""The paper's figures across seeds, as PNG and SVG: one of each kind for every preset.

A curve is the interquartile mean of the running average, its band the middle half of the seeds. Presets
have figures of their own: six curves with bands in one panel cannot be told apart.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offnac import files
from offnac.report import curves, panels
from offnac.report.panels import Figure, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

AVERAGE = "average_published"
NATURAL, VANILLA = "#0072b2", "#d55e00"
"""Blue and vermilion: told apart with any kind of colour vision, and in grey by their line styles."""
STYLE: Any = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.fontsize": 8.5,
    "svg.hashsalt": "offnac",  # the same numbers give the same file
    "svg.fonttype": "none",
    "figure.constrained_layout.wspace": 0.06,
    "figure.constrained_layout.hspace": 0.05,
}


def draw(out: Path, average: str = AVERAGE) -> list[Path]:
    """Draw what OUT/summary.json and OUT/curves.parquet hold into OUT/figures."""
    import matplotlib

    summary = files.read_json(out / "summary.json")
    bands = curves.read(out / "curves.parquet")
    written: list[Path] = []
    with matplotlib.rc_context(STYLE):
        for preset in summary["presets"]:
            chosen = {key: band for key, band in bands.items() if key[1] == preset}
            for figure in panels.figures(summary, chosen):
                drawing = _figure(figure, preset, average)
                written += [
                    _save(drawing, out / "figures", f"{figure.name}-{preset}.{kind}") for kind in KINDS
                ]
    return written


KINDS = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""Formats, and the metadata that they shall not have: it would differ from day to day."""


def _save(drawing: "Drawing", folder: Path, name: str) -> Path:
    path = folder / name
    kind = path.suffix[1:]
    with files.replacing(path) as temporary:
        drawing.savefig(temporary, format=kind, dpi=150, metadata=KINDS[kind])
    return path


def _seeds(fewest: int, most: int) -> str:
    if most == 1:
        return "one seed"
    return f"IQM and middle half of {most if fewest == most else f'{fewest} to {most}'} seeds"


def _figure(figure: Figure, preset: str, average: str) -> "Drawing":
    # Without pyplot: no window, no state that outlives the call.
    from matplotlib.figure import Figure as Drawing

    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    drawing = Drawing(figsize=(4.6 * columns, 3.4 * rows + 0.4), layout="constrained")
    seeds = {curve.cell["test"]["seeds"] for panel in figure.panels for curve in panel.curves}
    drawing.suptitle(f"{figure.title}, preset {preset}: {_seeds(min(seeds), max(seeds))}", fontsize=11.5)
    for axes, panel in zip(drawing.subplots(rows, columns, squeeze=False).flat, figure.panels, strict=False):
        _panel(axes, panel, average)
    for axes in drawing.axes[len(figure.panels) :]:
        axes.remove()
    return drawing


def _panel(axes: "Axes", panel: Panel, average: str) -> None:
    for curve in panel.curves:
        band = curve.bands[average]
        colour, style = (NATURAL, "-") if curve.natural else (VANILLA, "--")
        axes.fill_between(band.x, band.low, band.high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(band.x, band.middle, style, color=colour, linewidth=1.7, label=curve.algorithm)
        paper = curve.cell["paper"]["mean"]
        axes.axhline(paper, color=colour, linestyle=":", linewidth=1.4, label=f"the paper: {_number(paper)}")
    axes.set_title(panel.title, fontsize=10.5)
    axes.set_xlabel("training episode")
    axes.set_ylabel("running average of the return")
    axes.legend(loc="best", ncols=1)
    if panel.log:
        _as_costs(axes, panel, average)


def _as_costs(axes: "Axes", panel: Panel, average: str) -> None:
    """A logarithmic axis of −return, upside down, so that better is still higher."""
    bands = [curve.bands[average] for curve in panel.curves]
    papers = [curve.cell["paper"]["mean"] for curve in panel.curves]
    heights = np.concatenate([papers, *(band.low for band in bands), *(band.high for band in bands)])
    heights = heights[np.isfinite(heights)]
    axes.set_yscale("function", functions=(_log_cost, _cost))
    axes.set_ylabel("running average of the return (log)")
    axes.set_ylim(1.15 * heights.min(), 0.85 * min(heights.max(), -1.0))
    ticks = [-float(f"{digit}e{power}") for power in range(6) for digit in (1, 2, 5)]
    bottom, top = axes.get_ylim()
    axes.set_yticks(shown := [tick for tick in ticks if bottom <= tick <= top])
    axes.set_yticklabels([_number(tick) for tick in shown])


def _log_cost(y: ArrayLike) -> NDArray[np.float64]:
    return -np.log10(np.maximum(-np.asarray(y, float), 1e-3))


def _cost(y: ArrayLike) -> NDArray[np.float64]:
    return -(10.0 ** -np.asarray(y, float))


def _number(value: float) -> str:
    return f"{value:.0f}".replace("-", "−") if value == round(value) else f"{value:.1f}".replace("-", "−")
