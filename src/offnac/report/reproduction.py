"""The web page of a reproduction of the paper: OUT/report.html."""

from html import escape
from pathlib import Path
from typing import Any

from offnac import files
from offnac.errors import UserError
from offnac.report import curves, learned, page, panels, results
from offnac.report.chart import Chart, Level, Series
from offnac.report.film import film
from offnac.report.numbers import duration, plain
from offnac.report.page import Section
from offnac.report.panels import Figure, Panel

REPORT = "report.html"
PRESETS = {
    "published": "what the published experiments ran",
    "paper": "the settings as the paper’s tables print them",
    "robust": "the same structure, made to hold on every seed",
}
AT_FIRST = ("robust", "published")
"""Presets whose curves are on show when the page opens."""


def write(out: Path) -> Path:
    """Write the page from OUT/summary.json, OUT/curves.parquet and the policies in OUT/runs."""
    summary = files.read_json(out / "summary.json")
    bands = curves.read(out / "curves.parquet")
    try:
        if not summary["cells"]:
            raise UserError(f"{out} has no finished run yet; go on with offnac reproduce --resume")
        html = _page(out, summary, panels.figures(summary, bands))
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{out / 'summary.json'} does not describe a reproduction (trouble with {error}); "
            "run offnac reproduce again"
        ) from error
    return page.save(out / REPORT, html)


def _page(out: Path, summary: dict[str, Any], figures: list[Figure]) -> str:
    sections = [
        Section("results", "Results", _RESULTS + results.results(summary["cells"])),
        Section("policies", "Learned policies at work", _films(out, summary)),
        Section("curves", "Training curves", _charts(summary, figures)),
        Section("improvement", "Natural against plain", _improvement(summary["improvement"])),
        Section("settings", "Settings", _settings(summary)),
        Section("provenance", "How it was made", _provenance(summary)),
    ]
    return page.document(
        "The paper’s tables and figures, across seeds",
        _introduction(summary),
        [section for section in sections if section.body],
        f"<p>Written by offnac {escape(summary['versions'].get('offnac', ''))}, "
        f"{escape(summary['date'][:10])}. Everything is in this one file.</p>",
    )


def _introduction(summary: dict[str, Any]) -> str:
    tiles = []
    for preset in summary["presets"]:
        cells = [cell for cell in summary["cells"] if cell["preset"] == preset]
        met = sum(cell["meets"] for cell in cells)
        what = f": {PRESETS[preset]}" if preset in PRESETS else ""
        tiles.append(
            f'<div class="tile"><p><strong>{escape(preset)}</strong>{escape(what)}</p>'
            f'<b>{met} of {len(cells)}</b><p class="quiet">cells meet or beat the paper’s mean</p></div>'
        )
    return (
        "<p>“Neural Network Compatible Off-Policy Natural Actor-Critic Algorithm” reports one run of each "
        f"algorithm on each task. Here every run is repeated over {_seeds(summary)}, so that luck shows: "
        "each cell has the interquartile mean (IQM) over seeds with its 95% bootstrap interval, the worst "
        "seed and the best, beside the paper’s number.</p>\n"
        f'<div class="tiles">{"".join(tiles)}</div>' + _unfinished(summary)
    )


def _unfinished(summary: dict[str, Any]) -> str:
    """A page of a reproduction that was stopped says so."""
    names = summary.get("unfinished", [])
    return f"<p><strong>Not finished yet:</strong> {escape(', '.join(names))}.</p>" if names else ""


def _seeds(summary: dict[str, Any]) -> str:
    counts = sorted({cell["test"]["seeds"] for cell in summary["cells"]})
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} seed{'' if counts == [1] else 's'}"


_RESULTS = (
    "<p>Test return of the checkpoint with the best running average, as in the paper, and of the final "
    "policy. Off-policy, that checkpoint is chosen by running the learned policy in the simulator; the final "
    "policy needs none. Click a header to sort.</p>\n"
)


def _improvement(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    return (
        "<p>The probability that a seed of the natural actor-critic does better than a seed of the plain "
        "one, a tie counted half. An interval that lies to the right of ½ supports the paper’s claim.</p>\n"
        + results.improvement(rows)
    )


def _films(out: Path, summary: dict[str, Any]) -> str:
    shown = []
    for cell, seed, played in learned.films(out, summary):
        first = "" if played.ended else "the first "
        shown.append(
            film(
                panels.task(cell["environment"]),
                f"{panels.algorithm(cell)}, preset {cell['preset']}, seed {seed}, the middle one of "
                f"{cell['test']['seeds']}: return {plain(played.total, 0)} in {first}{played.steps} steps",
                played,
            )
        )
    return f'<div class="films">\n{"".join(shown)}\n</div>' if shown else ""


def _charts(summary: dict[str, Any], figures: list[Figure]) -> str:
    if not figures:
        return ""
    presets = summary["presets"]
    at_first = [preset for preset in presets if preset in AT_FIRST] or presets
    boxes = "".join(
        f'<label><input type="checkbox" data-group="{escape(preset)}"{_checked(preset in at_first)}> '
        f"{escape(preset)}</label>"
        for preset in presets
    )
    radios = "".join(
        f'<label><input type="radio" name="average" data-variant="{column}"{_checked(not place)}> '
        f"{escape(words)}</label>"
        for place, (column, words) in enumerate(curves.AVERAGES.items())
    )
    parts = [
        "<p>IQM over seeds of the running average of the return, with the middle half of the seeds as a "
        "band; dotted, the paper’s test result. Point at a curve, or use the arrow keys, to read it; click a "
        "name to hide its curve; drag across, or press + and −, to zoom; double-click, or press Escape, to "
        "see all.</p>",
        "<noscript><p>The curves need JavaScript; the folder figures has them as images.</p></noscript>",
        f'<div class="controls"><fieldset><legend>Presets</legend>{boxes}</fieldset>',
        f"<fieldset><legend>Running average</legend>{radios}</fieldset></div>",
    ]
    for figure in figures:
        charts = "\n".join(_chart(panel, presets, at_first) for panel in figure.panels)
        parts.append(f'<h3>{escape(figure.title)}</h3>\n<div class="charts">\n{charts}\n</div>')
    return "\n".join(parts)


def _checked(on: bool) -> str:
    return " checked" if on else ""


def _chart(panel: Panel, presets: list[str], at_first: list[str]) -> str:
    # The preset that is meant to be looked at has the plain line.
    styles = sorted(presets, key=lambda preset: (preset != "robust", presets.index(preset)))
    series = [
        Series(
            f"{curve.algorithm} {curve.cell['preset']}" if len(presets) > 1 else curve.algorithm,
            curve.bands,
            colour=int(not curve.natural),
            dash=styles.index(curve.cell["preset"]),
            group=curve.cell["preset"],
            shown=curve.cell["preset"] in at_first,
        )
        for curve in panel.curves
    ]
    levels = {
        curve.algorithm: Level(curve.algorithm, curve.cell["paper"]["mean"], int(not curve.natural))
        for curve in panel.curves
    }
    chart = Chart(
        title=panel.title,
        x="training episode",
        y="running average",
        series=series,
        levels=tuple(levels.values()),
        compared="Dotted, the paper’s test result",
        log=panel.log,
    )
    return chart.html()


def _settings(summary: dict[str, Any]) -> str:
    return "\n".join(
        f"<details><summary>{escape(panels.task(cell['environment']))}, {escape(panels.algorithm(cell))}, "
        f"preset {escape(cell['preset'])}</summary>{page.settings(cell['settings'])}</details>"
        for cell in summary["cells"]
    )


def _provenance(summary: dict[str, Any]) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in summary["notes"])
    seeds = summary["seeds"]
    return "\n".join(
        [
            page.facts(
                [
                    ("date", summary["date"]),
                    ("seeds", f"{seeds[0]} to {seeds[-1]} ({len(seeds)})" if seeds else "none"),
                    ("time", duration(summary["seconds"])),
                    *summary["versions"].items(),
                ]
            ),
            f"<h3>Notes</h3>\n<ul>{notes}</ul>" if notes else "",
            f"<details><summary>Time of each run</summary>{results.timings(summary['cells'])}</details>",
        ]
    )
