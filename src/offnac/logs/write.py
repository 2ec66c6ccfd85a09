"""Write a log in memory: Parquet, CSV, or a Minari dataset, whole or not at all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from numpy.typing import NDArray

from offnac import files
from offnac.errors import UserError
from offnac.logs import schema
from offnac.logs.log import Log
from offnac.logs.minari import write_dataset
from offnac.transition import Transition

BLOCK = 1 << 18
"""Rows written at a time."""


def write_log(log: Log, out: Path | str) -> str:
    """The ending of ``out`` says the format (.parquet, .csv), or ``minari:ID``; the format is returned."""
    text = str(out)
    if text.startswith("minari:"):
        write_dataset(log, text.removeprefix("minari:"))
        return "minari"
    path = Path(out)
    writers = {".parquet": _write_parquet, ".pq": _write_parquet, ".csv": _write_csv}
    if path.suffix not in writers:
        raise UserError(
            f"the format is told by the name, which should end in .parquet or .csv or be minari:ID, "
            f"but {text!r} came"
        )
    files.require_absent(path)
    writers[path.suffix](log, path)
    return "csv" if path.suffix == ".csv" else "parquet"


def _blocks(log: Log) -> Iterator[tuple[NDArray[np.int64], Transition]]:
    for begin in range(0, len(log), BLOCK):
        here = slice(begin, begin + BLOCK)
        yield log.episode[here], Transition(*(column[here] for column in log.rows))


def _write_parquet(log: Log, path: Path) -> None:
    metadata = {}
    for key, names in (("action_names", log.action_names), ("observation_names", log.observation_names)):
        if names is not None:
            metadata[f"offnac.{key}"] = json.dumps(names, ensure_ascii=False)
    if log.behaviour is not None:
        metadata["offnac.behaviour_prob"] = log.behaviour
    has = log.behaviour is not None
    with schema.writing(path, log.spec, metadata, behaviour_prob=has) as writer:
        for episode, rows in _blocks(log):
            writer.write(episode, rows)


def _write_csv(log: Log, path: Path) -> None:
    """A column for each number; actions as their numbers."""

    def table(episode: NDArray[np.int64], rows: Transition) -> pa.Table:
        columns: dict[str, Any] = {"episode": episode}
        for name, values in rows._asdict().items():
            if name == "behaviour_prob" and log.behaviour is None:
                continue
            array = np.asarray(values)
            if array.ndim == 1:
                columns[name] = array
            else:
                columns |= {f"{name}_{i}": np.ascontiguousarray(array[:, i]) for i in range(array.shape[1])}
        return pa.table(columns)

    with files.replacing(path) as temporary:
        tables = (table(*block) for block in _blocks(log))
        first = next(tables)
        with csv.CSVWriter(temporary, first.schema) as writer:
            writer.write_table(first)
            for following in tables:
                writer.write_table(following)
