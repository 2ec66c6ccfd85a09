"""The web page of a search for settings: what was found, whether it holds up, and every trial."""

from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any

from offnac.report import page
from offnac.report.chart import Chart, Level, Series
from offnac.report.lines import line
from offnac.report.numbers import duration, plain
from offnac.report.page import Section
from offnac.report.scatter import Dot, scatter
from offnac.report.strip import strip
from offnac.report.table import Cell, Column, number, table

Trials = list[dict[str, Any]]


def write(record: dict[str, Any], trials: Trials, path: Path) -> Path:
    """``record`` is the folder's run.json, ``trials`` are all that ended, in their order."""
    result, known = record["result"], [trial for trial in trials if trial["value"] is not None]
    what = f"{result['algorithm']} on {result['source']}"
    sections = [
        Section("found", "What was found", _found(record, result)),
        Section("check", "On seeds that the search has not seen", _check(result)),
        Section("search", "The search", _search(record, known)),
        Section("settings", "Each setting", _settings(record, known, result["best"]["number"])),
        Section("trials", "Every trial", _trials(record, trials, result["best"]["number"])),
    ]
    html = page.document(
        f"Tuning {what}",
        _introduction(record, result),
        [section for section in sections if section.body],
        f"<p>Written by offnac {escape(record['versions'].get('offnac', ''))}, {record['date'][:10]}. "
        "Everything is in this one file.</p>",
    )
    return page.save(path, html)


def _introduction(record: dict[str, Any], result: dict[str, Any]) -> str:
    request, failed = record["request"], result["failed"]
    said = (
        f"<p>{result['trials']} trials of offnac {result['command']}, each on "
        f"{_seeds(request['first_seed'], request['seeds'])}, in {duration(result['seconds'])}. "
        f"What is made as large as it can be: {escape(record['unit'])}.</p>"
    )
    if failed:
        said += f"<p>{failed} of the trials failed, with settings that nothing is learned with.</p>"
    return said


def _found(record: dict[str, Any], result: dict[str, Any]) -> str:
    best, first = result["best"], result["first"]
    tiles = (
        '<div class="tiles">'
        f'<div class="tile"><p>Best trial ({best["number"]})</p><b>{plain(best["value"])}</b></div>'
        f'<div class="tile"><p>Settings as they were</p><b>{plain(first["value"])}</b></div></div>'
    )
    columns = [Column("Setting"), Column("As it was", True), Column("Best", True)]
    rows = [
        [name, _setting(first["settings"][name]), _setting(value)] for name, value in best["settings"].items()
    ]
    use = f"offnac {result['command']} … --settings {result['settings']}"
    if result["command"] == "train":
        use = use.replace("…", f"{result['source']} --algorithm {result['algorithm']} --preset robust …")
    said = (
        "<p>The best of many trials is partly the luckiest: expect less of it than this number says.</p>"
        if best["number"]
        else "<p>No trial was better than the settings as they were.</p>"
    )
    searched = table("The settings searched", columns, rows)
    return f"{tiles}\n{said}\n{searched}\n<p>To use them: <code>{escape(use)}</code></p>"


def _check(result: dict[str, Any]) -> str:
    check = result["check"]
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
    better = check["best"]["value"] > check["first"]["value"]
    verdict = (
        "the best settings are better there too"
        if better
        else "the best settings are no better there: what the search saw in them was luck"
    )
    return (
        f"<p>Both were trained again on {_seeds(check['first_seed'], check['seeds'])}: "
        f'<strong class="{"good" if better else "bad"}">{verdict}</strong>.</p>\n'
        + table("On fresh seeds", columns, rows)
    )


def _search(record: dict[str, Any], known: Trials) -> str:
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


def _settings(record: dict[str, Any], known: Trials, best: int) -> str:
    pictures = []
    for name, part in record["settings"]["space"].items():
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


def _trials(record: dict[str, Any], trials: Trials, best: int) -> str:
    names = list(record["settings"]["space"])
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
