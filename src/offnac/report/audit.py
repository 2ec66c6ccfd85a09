"""The web page of an audit: the verdict first, then what it rests on."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from offnac.evaluation.audit.verdict import SUPPORTED, UNSUPPORTED
from offnac.provenance import now, versions
from offnac.report import page
from offnac.report.chart import Chart, Series
from offnac.report.lines import histogram_chart, line
from offnac.report.numbers import plain
from offnac.report.page import Section
from offnac.report.table import Cell, Column, number, table

CLASSES = {SUPPORTED: "good", UNSUPPORTED: "bad"}


def write(result: dict[str, Any], path: Path) -> Path:
    """Write what :func:`offnac.audit` found."""
    sections = [
        Section("support", "The policy in this log", _policy(result)),
        Section("episodes", "Episodes", _episodes(result)),
        Section("actions", "Actions", _actions(result)),
        Section("features", "Observations", _features(result)),
        Section("behaviour", "The behaviour’s probabilities", _behaviour(result["behaviour"])),
        Section("notes", "Notes on the log", sentences(result["warnings"])),
    ]
    html = page.document(
        f"Audit of {result['log']}",
        _introduction(result),
        sections,
        page.signature({"versions": versions(), "date": now()}),
    )
    return page.save(path, html)


def _introduction(result: dict[str, Any]) -> str:
    said = (
        f"<p>{plain(result['rows'], 0)} rows of {plain(result['episodes'], 0)} episodes, with "
        f"{result['observation_size']} numbers observed and {result['actions']} actions.</p>"
    )
    if result["verdict"] is None:
        return said
    kind = CLASSES.get(result["verdict"], "")
    first, *rest = result["reasons"]
    return (
        f'{said}\n<div class="tile"><p>Verdict</p><b class="{kind}">{escape(result["verdict"])}</b>'
        f"<p>{escape(_sentence(first))}</p>{sentences(rest)}</div>"
    )


def _policy(result: dict[str, Any]) -> str:
    if result["policy"] is None:
        return ""
    numbers, support = result["policy"], result["policy"]["support"]
    size, tails, path = numbers["effective_sample_size"], numbers["tails"], support["path"]
    steps = np.arange(len(path["there"]))
    rows = [
        (label, _share(size[name]), number(tails[name]["p99"], 2), number(tails[name]["largest"], 2),
         _share(tails[name]["top_percent"]))
        for name, label in (("rho", "ρ = π/μ, of actions"), ("w_rho", "wρ, of states and actions"))
    ]  # fmt: skip
    columns = [
        Column("Weights"),
        Column("Effective share", True, "effective sample size, as a share of the rows"),
        Column("99th percentile", True),
        Column("Largest", True),
        Column("In the top 1%", True, "the share of all weight that the heaviest 1% of the rows carry"),
    ]
    chart = Chart(
        "Artificial episodes of the policy",
        "step",
        "share",
        [
            Series("barely held by the log", {"share": line(steps, path["barely_held"])}, 1),
            Series("episodes still going", {"share": line(steps, path["there"])}, 0, 1),
        ],
    )
    facts = page.facts(
        [
            ("effective rows", f"{plain(size['rows'], 0)} of {plain(result['rows'], 0)}"),
            ("effective episodes", f"{plain(size['episodes'])} of {plain(result['episodes'], 0)}"),
            ("weight in states barely held", f"{support['states']:.1%}"),
            ("weight in actions barely held", f"{support['actions']:.1%}"),
            ("weight later than episodes last", f"{support['late']:.1%}"),
            ("what counts as near", f"{support['radius']:.2f} of the median distance between states"),
            ("discount factor γ", numbers["gamma"]),
        ]
    )
    weights = histogram_chart("wρ of the log’s rows", "wρ", "rows", numbers["histogram"])
    return (
        "<p>Weight is discounted time. The policy is followed through the log: from a logged start each of "
        "its steps is taken over from one of the nearest logged rows with the same action. Where those rows "
        "are farther away than logged rows usually are from each other, the log barely holds the step.</p>\n"
        f'{facts}\n<div class="charts">{chart.html("h3")}{weights}</div>\n'
        + table("How unevenly the rows count for the policy", columns, rows)
    )


def _episodes(result: dict[str, Any]) -> str:
    names = ("Mean", "SD", "Least", "Median", "Most")
    columns = [Column("An episode’s"), *(Column(name, True) for name in names)]
    rows: list[list[Cell | str]] = []
    for name in ("lengths", "returns"):
        found = result[name]
        quantiles = found["quantiles"]
        values = (found["mean"], found["sd"], quantiles["0"], quantiles["0.5"], quantiles["1"])
        rows.append([name[:-1], *(number(value, 2) for value in values)])
    charts = "".join(
        histogram_chart(title, x, "episodes", result[name]["histogram"])
        for name, title, x in (
            ("returns", "Returns, undiscounted", "return"),
            ("lengths", "Lengths", "steps"),
        )
    )
    ended = f"<p>{result['terminated']:.1%} of the episodes end with the task, the others are cut short.</p>"
    return f'{ended}\n<div class="charts">{charts}</div>\n' + table(
        "Lengths and returns of episodes", columns, rows
    )


def _actions(result: dict[str, Any]) -> str:
    columns = [Column("Action"), Column("Rows", True), Column("Share", True)]
    rows = [(one["name"], number(one["rows"], 0), _share(one["share"])) for one in result["action_use"]]
    return table("How often each action was taken", columns, rows)


def _features(result: dict[str, Any]) -> str:
    columns = [Column("Observed"), *(Column(name, True) for name in ("Mean", "SD", "Least", "Most"))]
    centre = (result["policy"] or {}).get("support", {}).get("centre")
    if centre:
        text = "where the log barely holds the policy, in SD from the log’s mean"
        columns.append(Column("Policy leaves by", True, text))
    rows: list[list[Cell | str]] = []
    for i, one in enumerate(result["features"]):
        row: list[Cell | str] = [
            one["name"],
            *(number(one[name], 3) for name in ("mean", "sd", "smallest", "largest")),
        ]
        rows.append([*row, number(centre[i], 1)] if centre else row)
    return table("What the observations span", columns, rows)


def _behaviour(behaviour: dict[str, Any]) -> str:
    facts = [
        ("source", behaviour["source"]),
        ("as free as a choice among", f"{behaviour['actions_tried']:.2f} actions"),
    ]
    if "model" not in behaviour:
        return page.facts(facts)
    facts += [
        ("model", behaviour["model"]),
        ("held-out log-likelihood", f"{behaviour['log_likelihood']:.4f}"),
        *(
            (f"that of {name}", f"{score:.4f}")
            for name, score in behaviour["candidates"].items()
            if name != behaviour["model"]
        ),
        ("expected calibration error", f"{behaviour['expected_calibration_error']:.4f}"),
        ("least probability", f"{behaviour['floor']:g}, given to {behaviour['floored']:.2%} of the rows"),
    ]
    predicted = [row["predicted"] for row in behaviour["reliability"]]
    observed = [row["observed"] for row in behaviour["reliability"]]
    chart = Chart(
        "Fitted probabilities against what came true",
        "fitted probability",
        "frequency",
        [
            Series("what came true", {"share": line(predicted, observed)}, 0),
            Series("a perfect fit", {"share": line([0, 1], [0, 1])}, 1, 2),
        ],
    )
    return (
        "<p>The log does not hold the probabilities of its actions. They were fitted, each row by a model "
        "that has not seen its episode, and every weight on this page depends on them.</p>\n"
        f'{page.facts(facts)}\n<div class="charts">{chart.html("h3")}</div>'
    )


def _share(value: float) -> Cell:
    return Cell(f"{value:.1%}", value)


def sentences(texts: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(_sentence(text))}</li>' for text in texts)}</ul>" if texts else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
