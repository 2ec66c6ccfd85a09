"""The web page of what was learned from a log."""

from html import escape
from pathlib import Path
from typing import Any

from offnac.report import health, page
from offnac.report.audit import CLASSES, sentences
from offnac.report.chart import Chart, Level, Series
from offnac.report.curves import Band
from offnac.report.lines import histogram_chart
from offnac.report.numbers import plain
from offnac.report.page import Section
from offnac.report.records import Records, read
from offnac.report.simulator import Simulator
from offnac.report.table import Cell, Column, between, number, table

RECORDED = {
    "value": ("The critic’s value of initial states", "discounted return"),
    "effective_sample_size": ("Effective sample size of wρ", "share of the rows"),
    "entropy": ("Entropy of the policy", "share of the uniform policy’s"),
}
ESTIMATORS = (
    Column("Estimate"),
    Column("Value", True, "discounted return from a start"),
    Column("95% interval", True),
)


def document(out: Path, run: dict[str, Any], environment: str | None = None, live: str = "") -> str:
    """The page; ``run`` is what run.json says. ``environment`` is a simulator to hold the policy against."""
    result = run.get("result")
    simulator = Simulator(out, environment, run["request"]["gamma"]) if result else None
    records = read(out, run["seeds"], "history")
    sections = [
        Section("value", "What the policy is worth", _values(result, simulator)),
        Section("policy", "The policy at work", simulator.film() if simulator else ""),
        Section("curves", "Learning", _curves(records)),
        Section("candidates", "Held-out episodes", _candidates(out, run, simulator)),
        Section("weights", "Weights of the log’s rows", _weights(result)),
        Section("settings", "Settings", page.run_settings(run)),
        Section("provenance", "How it was made", page.provenance(run)),
    ]
    source = run.get("source")
    title = f"{run['request']['algorithm']} from {Path(source).name if source else 'a log'}"
    return page.document(title, _introduction(run, result, records), sections, page.signature(run), live)


def _introduction(run: dict[str, Any], result: dict[str, Any] | None, records: Records) -> str:
    if result is None:
        done = sum(len(columns["value"]) for columns in records.values())
        return f"<p><strong>Not finished yet:</strong> {done} iterations of {len(records)} seeds so far.</p>"
    first, *rest = result["reasons"]
    verdict = (
        f'<div class="tile"><p>The log and this policy</p><b class="{CLASSES.get(result["verdict"], "")}">'
        f"{escape(result['verdict'])}</b>{sentences([first, *rest])}</div>"
    )
    chosen, name = result["selected"], result["ope"]["recommended"]
    ours, theirs = result["ope"]["estimators"][name], result["ope"]["behaviour"]
    against = f"discounted, {name.replace('_', ' ')}; the behaviour’s own {plain(theirs['value'])}"
    value = page.tile("value on held-out episodes", plain(ours["value"]), against)
    return (
        f"<p>{plain(result['rows'], 0)} rows of {plain(result['episodes'], 0)} episodes. Seed "
        f"{chosen['seed']}, iteration {chosen['iteration']} of {chosen['of']} was chosen: "
        f"{escape(chosen['reason'])}.</p>\n"
        f'<div class="tiles">{value}{verdict}</div>'
    )


def _values(result: dict[str, Any] | None, simulator: Simulator | None) -> str:
    if result is None or simulator is None:
        return ""
    found, recommended = result["ope"], result["ope"]["recommended"]
    rows = [
        _estimate(name.replace("_", " ") + " (recommended)" * (name == recommended), row)
        for name, row in found["estimators"].items()
    ]
    rows.append(_estimate("the behaviour’s own", found["behaviour"]))
    if simulator.value is not None:
        mean, error = simulator.value["mean"], 1.96 * simulator.value["se"]
        row = {"value": mean, "low": mean - error, "high": mean + error}
        rows.append(_estimate(f"rollouts in {simulator.task}", row))
    held = plain(result["ope"]["held_out_episodes"], 0)
    said = f"<p>From {held} held-out episodes that learning never saw{_rollouts(simulator)}.</p>\n"
    return said + table("Estimates side by side", ESTIMATORS, rows)


def _estimate(name: str, row: dict[str, Any]) -> tuple[Cell | str, ...]:
    return name, number(row["value"], 2), between(row["low"], row["high"], 2)


def _rollouts(simulator: Simulator) -> str:
    if simulator.value is None:
        return "; there is no simulator to hold them against"
    episodes = plain(simulator.value["episodes"], 0)
    return f", and from {episodes} episodes in a simulator, which learning did without"


def _curves(records: Records) -> str:
    return health.charts(records, "iteration", RECORDED) or "<p>No iteration has ended yet.</p>"


def _candidates(out: Path, run: dict[str, Any], simulator: Simulator | None) -> str:
    found = read(out, run["seeds"], "candidates")
    if not found:
        return ""
    series = []
    for place, (seed, columns) in enumerate(found.items()):
        value, error = columns["value"], columns["standard_error"]
        band = Band(columns["iteration"].astype(int), value, value - error, value + error)
        series.append(Series(f"seed {seed}", {"value": band}, place % 5))
    levels: tuple[Level, ...] = ()
    if simulator is not None and simulator.value is not None:
        chosen = list(found).index(run["result"]["selected"]["seed"]) % 5
        levels = (Level("the chosen policy", simulator.value["mean"], chosen),)
    chart = Chart(
        "Value of the policies on the way",
        "iteration",
        "discounted return",
        series,
        levels,
        compared="Dotted, by rollouts",
    )
    return (
        "<p>Policies on the way, judged by episodes that learning never saw, ± a standard error.</p>"
        f'\n<div class="charts">{chart.html("h3")}</div>'
    )


def _weights(result: dict[str, Any] | None) -> str:
    if result is None or "weights" not in result:
        return ""
    chart = histogram_chart("wρ of the log’s rows", "wρ", "rows", result["weights"])
    return (
        "<p>How much each row counts for the policy: where few rows carry most of the weight, it rests on "
        f'few rows. The last bar holds all that is above it.</p>\n<div class="charts">{chart}</div>'
    )
