"""A reproduction's tables: ours beside the paper's, the probability of improvement, the time it took."""

from html import escape
from math import log10
from typing import Any

from offnac.report import panels
from offnac.report.curves import spans_decades
from offnac.report.numbers import duration, plain
from offnac.report.strip import strip
from offnac.report.table import Cell, Column, between, number, row_name, table

Entry = dict[str, Any]

TITLES = {
    "on-policy": "On-policy (the paper’s Table 1)",
    "off-policy": "Off-policy, from uniformly random behaviour (Table 2)",
    "td-lambda": "TD(λ) critics on Mountain Car (Table 3)",
}
RESULTS = (
    Column("Cell"),
    Column("Preset", aside=True),
    Column("The paper", True, "mean ± SD over 1000 test episodes of one run"),
    Column("Ours", True, "interquartile mean over seeds: test return of the best checkpoint"),
    Column("95% interval", True, "bootstrap over seeds"),
    Column("Worst seed", True),
    Column(
        "Verdict",
        True,
        "whether ours meets it; surely, if the whole interval says so; sorts by the difference",
    ),
    Column("Every seed", True, "a dot for each seed, a line at the paper’s mean"),
    Column("Median", True),
    Column("Best seed", True),
    Column("Final policy", True, "interquartile mean over seeds: test return after the last episode"),
    Column("Its 95% interval", True),
    Column("Episodes to the paper", True, "median over seeds until the running average is there"),
    Column("Seeds that get there", True),
    Column("Seeds", True),
)


def results(cells: list[Entry]) -> str:
    """One table for each of the paper's."""
    return "\n".join(
        table(title, RESULTS, [_result(cell, rows) for cell in rows])
        for name, title in TITLES.items()
        if (rows := [cell for cell in cells if panels.figure(cell) == name])
    )


def _result(cell: Entry, rows: list[Entry]) -> list[Cell | str]:
    ours, final, reached = cell["test"], cell["final_test"], cell["episodes_to_paper"]
    return [
        row_name(_name(cell), cell["preset"]),
        cell["preset"],
        Cell(f"{plain(cell['paper']['mean'])} ± {plain(cell['paper']['sd'])}", cell["paper"]["mean"]),
        number(ours["iqm"]),
        between(ours["low"], ours["high"]),
        number(ours["worst"]),
        _verdict(cell),
        Cell("", ours["iqm"], _every_seed(cell, rows)),
        number(ours["median"]),
        number(ours["best"]),
        number(final["iqm"]),
        between(final["low"], final["high"]),
        number(reached["median"], 0),
        Cell(f"{100 * reached['share']:.0f}%", reached["share"]),
        number(ours["seeds"], 0),
    ]


def _name(cell: Entry) -> str:
    return f"{panels.task(cell['environment'])} {panels.algorithm(cell)}"


def _verdict(cell: Entry) -> Cell:
    """In short, as the numbers stand beside it; the whole sentence for those who stay on it."""
    mark, kind = ("✓", "good") if cell["meets"] else ("✗", "bad")
    words = ("meets it" if cell["meets"] else "below it") + ("" if cell["sure"] else ", not surely")
    html = f'<span class="{kind}" title="{escape(cell["verdict"])}">{mark} {escape(words)}</span>'
    return Cell(words, cell["test"]["iqm"] - cell["paper"]["mean"], html)


def _every_seed(cell: Entry, rows: list[Entry]) -> str:
    """On one number line for all rows of the task, so that they can be compared."""
    alike = [row for row in rows if row["environment"] == cell["environment"]]
    ends = [value for row in alike for value in (*row["test"]["values"], row["paper"]["mean"])]
    low, high = min(ends), max(ends)
    # Costs of very different sizes, as in the charts.
    bend = (lambda y: -log10(-y)) if spans_decades(ends) else float
    return strip(
        [bend(value) for value in cell["test"]["values"]],
        bend(low),
        bend(high),
        mark=bend(cell["paper"]["mean"]),
        label=f"{cell['test']['seeds']} seeds from {plain(cell['test']['worst'])} to "
        f"{plain(cell['test']['best'])}, the paper at {plain(cell['paper']['mean'])}",
    )


IMPROVEMENT = (
    Column("Task"),
    Column("Natural over plain"),
    Column("Preset", aside=True),
    Column(
        "Probability",
        True,
        "that a seed of the natural algorithm beats one of the plain one: best checkpoints",
    ),
    Column("95% interval", True, "bootstrap over seeds"),
    Column("From 0 to 1", True, "a line at ½: no difference"),
    Column("Final policies", True, "the same, of the policies after the last episode"),
)


def improvement(rows: list[Entry]) -> str:
    return table("Natural over plain, seed against seed", IMPROVEMENT, map(_improvement, rows))


def _improvement(row: Entry) -> list[Cell | str]:
    natural, plainer = (panels.ALGORITHMS.get(name, name) for name in row["pair"].split(">"))
    pair = f"{natural} over {plainer}"
    probability, low, high = row["probability"], row["low"], row["high"]
    label = f"{plain(probability, 2)}, interval {plain(low, 2)} to {plain(high, 2)}"
    line = strip([probability], 0, 1, mark=0.5, interval=(low, high), label=label)
    return [
        row_name(panels.task(row["environment"]), row["preset"]),
        f"{pair}, TD(λ)" if row["lam"] else pair,
        row["preset"],
        number(probability, 2),
        between(low, high, 2),
        Cell("", probability, line),
        number(row["final"]["probability"], 2),
    ]


TIMINGS = (
    Column("Cell"),
    Column("Preset", aside=True),
    Column("Time", True, "of all seeds"),
    Column("Training steps", True, "of all seeds"),
    Column("Steps/s", True),
)


def timings(cells: list[Entry]) -> str:
    return table("How long each run took", TIMINGS, map(_timing, cells))


def _timing(cell: Entry) -> list[Cell | str]:
    seconds, steps = cell["seconds"], cell["train_steps"]
    return [
        row_name(_name(cell), cell["preset"]),
        cell["preset"],
        Cell(duration(seconds), seconds) if seconds else Cell("–"),
        number(steps, 0),
        number(steps / seconds if seconds else None, 0),
    ]
