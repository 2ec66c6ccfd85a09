"""The web page of a reproduction of the paper: OUT/report.html."""

from html import escape
from pathlib import Path
from typing import Any

from offnac import files
from offnac.errors import UserError
from offnac.report import curves, health, learned, page, panels, results
from offnac.report.chart import Chart, Level, Series
from offnac.report.film import caption, film
from offnac.report.learned import Learned
from offnac.report.numbers import duration
from offnac.report.page import Section
from offnac.report.panels import Figure, Panel
from offnac.report.progress import runs_under_way
from offnac.report.records import band, read

REPORT = "report.html"
PRESETS = {
    "published": "what the published experiments ran",
    "paper": "the settings as the paper’s tables print them",
    "robust": "the same structure, made to hold on every seed",
}
HEALTH = {
    "effective_sample_size": ("Effective sample size of wρ, as a share of the rows", "share"),
    "entropy": ("Entropy of the policy, as a share of the uniform one’s", "share"),
}
AT_FIRST = ("robust", "published")
"""Presets whose curves are on show when the page opens."""


def write(out: Path) -> Path:
    """Write the page from OUT/summary.json, OUT/curves.parquet and the policies in OUT/runs."""
    return page.save(out / REPORT, document(out))


def document(out: Path, thorough: bool = False, live: str = "") -> str:
    """The page; ``thorough``: with weights and values of the policies that are shown, which takes a while.
    ``live``: of what is under way, too."""
    summary = files.read_json(out / "summary.json")
    try:
        if not summary["cells"] and not live:
            raise UserError(f"{out} has no finished run yet; go on with offnac reproduce --resume")
        finished = (out / "curves.parquet").exists() and not summary.get("unfinished")
        bands = curves.read(out / "curves.parquet") if finished or not live else curves.so_far(out, summary)
        return _page(out, summary, panels.figures(summary, bands), thorough, live)
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{out / 'summary.json'} does not describe a reproduction (trouble with {error}); "
            "run offnac reproduce again"
        ) from error


def _page(out: Path, summary: dict[str, Any], figures: list[Figure], thorough: bool, live: str) -> str:
    films = learned.films(out, summary)
    sections = [
        Section("progress", "Runs under way", runs_under_way(out, summary.get("unfinished", []))),
        Section("results", "Results", _results(summary["cells"])),
        Section("policies", "Learned policies at work", _films(films)),
        Section("curves", "Training curves", _charts(summary, figures)),
        Section("health", "Effective sample size and entropy", _health(out, summary)),
        Section("learned", "Weights and values", _diagnoses(out, films) if thorough else ""),
        Section("improvement", "Natural against plain", _improvement(summary["improvement"])),
        Section("settings", "Settings", _settings(summary)),
        Section("provenance", "How it was made", _provenance(summary)),
    ]
    return page.document(
        "The paper’s tables and figures, across seeds",
        _introduction(summary),
        sections,
        page.signature(summary),
        live,
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
    if not counts:
        return "several seeds"
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} seed{'' if counts == [1] else 's'}"


_RESULTS = (
    "<p>Test return of the checkpoint with the best running average, as in the paper, and of the final "
    "policy. Off-policy, that checkpoint is chosen by running the learned policy in the simulator; the final "
    "policy needs none. Click a header to sort.</p>\n"
)


def _results(cells: list[dict[str, Any]]) -> str:
    return _RESULTS + results.results(cells) if cells else ""


def _improvement(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    return (
        "<p>The probability that a seed of the natural actor-critic does better than a seed of the plain "
        "one, a tie counted half. An interval that lies to the right of ½ supports the paper’s claim.</p>\n"
        + results.improvement(rows)
    )


def _films(films: list[Learned]) -> str:
    shown = []
    for cell, seed, played in films:
        whose = (
            f"{panels.algorithm(cell)}, preset {cell['preset']}, seed {seed}, the middle one of "
            f"{cell['test']['seeds']}"
        )
        shown.append(film(panels.task(cell["environment"]), caption(played, whose), played))
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


def _health(out: Path, summary: dict[str, Any]) -> str:
    """Of every run, how much its data told it and how sure of itself it became."""
    records = {
        (cell["cell"], cell["preset"]): read(folder, cell["seeds"], "episodes")
        for cell in summary["cells"]
        if (folder := out / "runs" / f"{cell['cell']}-{cell['preset']}").is_dir()
    }
    parts = []
    for column, (title, y) in HEALTH.items():
        bands = {key: {column: found} for key, rows in records.items() if (found := band(rows, column))}
        charts = "\n".join(
            _chart(
                panel._replace(title=f"{panel.title}, {figure.title}"),
                summary["presets"],
                summary["presets"],
                y,
                compare=False,
            )
            for figure in panels.figures(summary, bands)
            for panel in figure.panels
            if column != "effective_sample_size" or any(curve.off_policy for curve in panel.curves)
        )
        if charts:
            parts.append(f'<h3>{title}</h3>\n<div class="charts">\n{charts}\n</div>')
    return "\n".join(parts)


def _diagnoses(out: Path, films: list[Learned]) -> str:
    parts = []
    for cell, seed, _ in films:
        folder = out / "runs" / f"{cell['cell']}-{cell['preset']}"
        name = f"{panels.task(cell['environment'])}, {panels.algorithm(cell)}, preset {cell['preset']}"
        parts.append(f"<h3>{escape(name)}</h3>\n{health.of_seed(folder, seed)}")
    return "\n".join(parts)


def _chart(
    panel: Panel, presets: list[str], at_first: list[str], y: str = "running average", compare: bool = True
) -> str:
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
        y=y,
        series=series,
        levels=tuple(levels.values()) if compare else (),
        compared="Dotted, the paper’s test result",
        log=compare and panel.log,
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
