"""The web page of a search for settings: what was found, whether it holds up, and every trial."""

from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from offnac.report import page
from offnac.report.chart import Chart, Level, Series
from offnac.report.lines import line
from offnac.report.numbers import duration, plain
from offnac.report.page import Section
from offnac.report.scatter import Dot, scatter
from offnac.report.strip import strip
from offnac.report.table import Cell, Column, number, table

Trials = list[dict[str, Any]]


def document(run: dict[str, Any], live: str = "") -> str:
    """The page of a search; ``run`` is its run.json, which knows every trial that has ended."""
    request, trials = run["request"], run["trials"]
    known = [trial for trial in trials if trial["value"] is not None]
    best = max(known, key=lambda trial: trial["value"], default=None)
    sections = []
    checked = run.get("result", {}).get("check")
    if best is not None:
        sections = [
            Section("found", "What was found", _found(run, known[0], best)),
            Section("check", "On seeds that the search has not seen", _check(checked)),
            Section("search", "The search", _search(known)),
            Section("settings", "Each setting", _settings(run, known, best["number"])),
            Section("trials", "Every trial", _trials(run, trials, best["number"])),
        ]
    return page.document(
        f"Tuning {request['algorithm']} on {request['source']}",
        _introduction(run, len(trials), len(trials) - len(known)),
        sections,
        f"<p>Written by offnac {escape(run['versions'].get('offnac', ''))}, {run['date'][:10]}. "
        "Everything is in this one file.</p>",
        live,
    )


def _introduction(run: dict[str, Any], trials: int, failed: int) -> str:
    request = run["request"]
    said = (
        f"<p>{trials} trial{'s' * (trials != 1)} of offnac {request['command']}, each on "
        f"{_seeds(request['first_seed'], request['seeds'])}, in {duration(run['seconds'])}"
        f"{'' if 'result' in run else ', and more to come'}. "
        f"What is made as large as it can be: {escape(run['unit'])}.</p>"
    )
    if failed:
        said += f"<p>{failed} of the trials failed, with settings that nothing is learned with.</p>"
    return said


def _found(run: dict[str, Any], first: dict[str, Any], best: dict[str, Any]) -> str:
    tiles = (
        '<div class="tiles">'
        f'<div class="tile"><p>Best trial ({best["number"]})</p><b>{plain(best["value"])}</b></div>'
        f'<div class="tile"><p>Settings as they were</p><b>{plain(first["value"])}</b></div></div>'
    )
    columns = [Column("Setting"), Column("As it was", True), Column("Best", True)]
    rows = [
        [name, _setting(first["settings"][name]), _setting(value)] for name, value in best["settings"].items()
    ]
    said = (
        "<p>The best of many trials is partly the luckiest: expect less of it than this number says.</p>"
        if best["number"]
        else "<p>No trial was better than the settings as they were.</p>"
    )
    return f"{tiles}\n{said}\n{table('The settings searched', columns, rows)}\n{_use(run)}"


def _use(run: dict[str, Any]) -> str:
    if "result" not in run:
        return ""
    request = run["request"]
    command = f"offnac {request['command']} {request['source']} --algorithm {request['algorithm']}"
    if request["command"] == "train":
        command += " --preset robust"
    command += f" --settings {run['result']['settings']} --out DIR"
    return f"<p>To use them: <code>{escape(command)}</code></p>"


def _check(check: dict[str, Any] | None) -> str:
    if check is None:
        return ""
    values = [*check["first"]["parts"], *check["best"]["parts"]]
    ends = min(values), max(values)
    columns = [
        Column("Settings"),
        Column("Mean over seeds", True),
        Column("Worst seed", True),
        Column("Every seed"),
    ]
    rows: list[list[Cell | str]] = [
        [
            name,
            number(worth["value"]),
            number(min(worth["parts"])),
            Cell(
                "",
                worth["value"],
                strip(worth["parts"], *ends, mark=worth["value"], label=f"seeds of {name}"),
            ),
        ]
        for name, worth in (("as they were", check["first"]), ("best", check["best"]))
    ]
    kind, verdict = _verdict(check["best"]["parts"], check["first"]["parts"])
    return (
        f"<p>Both were trained again on {_seeds(check['first_seed'], check['seeds'])}: "
        f'<strong class="{kind}">{verdict}</strong>.</p>\n' + table("On fresh seeds", columns, rows)
    )


def _verdict(best: list[float], first: list[float]) -> tuple[str, str]:
    """Whether the difference of the means is more than twice its standard error."""
    difference = float(np.mean(best) - np.mean(first))
    error = float(
        np.sqrt(sum(np.var(parts, ddof=1) / len(parts) for parts in (best, first) if len(parts) > 1))
    )
    if abs(difference) <= 2 * error or len(best) < 2:
        return "", "the seeds do not show a difference; more of them might"
    if difference > 0:
        return "good", "the best settings are better there too"
    return "bad", "the best settings are worse there: what the search saw in them was luck"


def _search(known: Trials) -> str:
    numbers, values = [trial["number"] for trial in known], [trial["value"] for trial in known]
    chart = Chart(
        "Trial after trial",
        "trial",
        "value",
        [
            Series("best so far", {"value": line(numbers, list(accumulate(values, max)))}, 1),
            Series("this trial", {"value": line(numbers, values)}, 0, 2),
        ],
        (Level("settings as they were", values[0], 1),),
        "to compare",
    )
    return f'<div class="charts">{chart.html("h3")}</div>'


def _settings(run: dict[str, Any], known: Trials, best: int) -> str:
    pictures = []
    for name, part in run["settings"]["space"].items():
        texts = [_text(trial["settings"][name]) for trial in known]
        names = list(dict.fromkeys(_text(value) for value in part.get("values", ())))
        dots = [
            Dot(
                names.index(text) if names else trial["settings"][name],
                trial["value"],
                f"trial {trial['number']}: {text}, {plain(trial['value'])}",
                1 if trial["number"] == best else 2 if trial["number"] == 0 else 0,
            )
            for trial, text in zip(known, texts, strict=True)
        ]
        pictures.append(scatter(name, dots, log=bool(part.get("log")), names=names))
    return (
        "<p>Each dot is a trial, its height what it was worth; the large orange one is the best, the large "
        "green one the settings as they were. A setting matters where the dots form a slope or a hill.</p>\n"
        f'<div class="charts">{"".join(pictures)}</div>'
    )


def _trials(run: dict[str, Any], trials: Trials, best: int) -> str:
    names = list(run["settings"]["space"])
    columns = [Column("Trial"), Column("Value", True), *(Column(name, True) for name in names)]
    marks = {0: " (as they were)", best: " (best)"}
    rows = [
        [
            Cell(f"{trial['number']}{marks.get(trial['number'], '')}", trial["number"]),
            number(trial["value"]),
            *(_setting(trial["settings"][name]) for name in names),
        ]
        for trial in trials
    ]
    return table("Every trial", columns, rows)


def _seeds(first: int, count: int) -> str:
    if count < 3:
        return f"seed {first}" if count == 1 else f"seeds {first} and {first + 1}"
    return f"seeds {first} to {first + count - 1}"


def _setting(value: Any) -> Cell:
    sort = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return Cell(_text(value), sort)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(_text(one) for one in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
