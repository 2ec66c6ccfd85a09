"""How far runs and their seeds are, while they are at work."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offnac import files
from offnac.report.records import Records, read
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
    rows = [_run(name, out / "runs" / name) for name in names]
    return table("Runs that are not finished", RUNS, rows) if rows else ""


def _run(name: str, folder: Path) -> list[Cell | str]:
    if not (folder / RUN).exists():
        return [name, number(0, 0), number(0, 0), number(None), number(None)]
    run = files.read_json(folder / RUN)
    averages = [columns["average"] for columns in read(folder, run["seeds"], "episodes").values()]
    return [
        name,
        number(len(averages), 0),
        number(sum(len(average) for average in averages), 0),
        number(len(run["seeds"]) * run["settings"]["episodes"], 0),
        number(float(np.mean([average[-1] for average in averages])) if averages else None),
    ]
