"""How far runs and their seeds are, while they are at work."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offnac import files
from offnac.report.chart import Chart, Series
from offnac.report.records import Records, band, read
from offnac.report.table import Cell, Column, number, table
from offnac.run_folder import RUN

COLUMNS = (
    Column("Seed"),
    Column("Episodes", True),
    Column("Of", True),
    Column("Running average", True),
    Column("Best so far", True),
)


def progress(run: dict[str, Any], records: Records, finished: list[dict[str, Any]]) -> str:
    """Nothing once all seeds are finished."""
    done = {one["seed"] for one in finished}
    rows = [_row(seed, run, records) for seed in run["seeds"] if seed not in done]
    return table("Seeds that are not finished", COLUMNS, rows) if rows else ""


def _row(seed: int, run: dict[str, Any], records: Records) -> list[Cell | str]:
    columns = records.get(seed)
    episodes = 0 if columns is None else len(columns["average"])
    latest = (None, None) if columns is None else (columns["average"][-1], columns["best_average"][-1])
    return [
        Cell(str(seed), seed),
        number(episodes, 0),
        number(run["settings"]["episodes"], 0),
        *(number(value) for value in latest),
    ]


RUNS = (
    Column("Run"),
    Column("Seeds begun", True),
    Column("Episodes", True, "of all seeds"),
    Column("Of", True),
    Column("Running average", True, "its mean over the seeds that have begun"),
)


def runs_under_way(out: Path, names: Sequence[str]) -> str:
    """The runs of a reproduction that are not finished, those that wait among them."""
    begun = {name: out / "runs" / name for name in names if (out / "runs" / name / RUN).exists()}
    runs = {name: files.read_json(folder / RUN) for name, folder in begun.items()}
    records = {name: read(begun[name], runs[name]["seeds"], "episodes") for name in begun}
    rows = [_run(name, runs.get(name), records.get(name, {})) for name in names]
    drawn = "".join(
        Chart(name, "training episode", "running average", [Series("its seeds", {"average": found})]).html(
            "h3"
        )
        for name, columns in records.items()
        if (found := band(columns, "average")) is not None
    )
    charts = f'\n<div class="charts">{drawn}</div>' if drawn else ""
    return table("Runs that are not finished", RUNS, rows) + charts if rows else ""


def _run(name: str, run: dict[str, Any] | None, records: Records) -> list[Cell | str]:
    if run is None:
        return [name, number(0, 0), number(0, 0), number(None), number(None)]
    averages = [columns["average"] for columns in records.values()]
    return [
        name,
        number(len(averages), 0),
        number(sum(len(average) for average in averages), 0),
        number(len(run["seeds"]) * run["settings"]["episodes"], 0),
        number(float(np.mean([average[-1] for average in averages])) if averages else None),
    ]
