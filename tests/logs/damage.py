"""Logs that something happened to: a strategy for everything that reads them."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from hypothesis import strategies as st

from .records import records

VALUES = (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, 7.0, 1e-30, 1e12, 1e300)
COLUMNS = [name for name in records() if not name.endswith("observation")] + [
    "observation_0",
    "observation_1",
]
COLUMNS += ["next_observation_0", "next_observation_1"]


class Damaged(NamedTuple):
    """The name and content of a file."""

    name: str
    content: bytes


def _flat() -> dict[str, pa.Array]:
    flat = {}
    for name, values in records().items():
        if values.ndim == 1:
            flat[name] = pa.array(values)
        else:
            flat |= {f"{name}_{i}": pa.array(np.ascontiguousarray(values[:, i])) for i in range(2)}
    return flat


def _put(draw: Any, table: dict[str, pa.Array], name: str) -> None:
    values = table[name].to_pylist()
    value = draw(st.sampled_from((*VALUES, None)))
    for row in draw(st.sets(st.integers(0, len(values) - 1), max_size=4)) if values else ():
        values[row] = value
    numbers = [value if isinstance(value, int | float) else None for value in values]
    table[name] = pa.array([None if value is None else float(value) for value in numbers], pa.float64())


def _retype(draw: Any, table: dict[str, pa.Array], name: str) -> None:
    rows = len(table[name])
    kinds = {
        "text": lambda: pa.array(draw(st.lists(st.text(max_size=3), min_size=rows, max_size=rows))),
        "numbers": lambda: pa.array(draw(st.lists(st.floats(), min_size=rows, max_size=rows))),
        "nothing": lambda: pa.nulls(rows),
        "dates": lambda: pa.array(np.arange(rows), pa.timestamp("s")),
        "truth": lambda: pa.array(np.arange(rows) % 2 == 0),
        "huge": lambda: pa.array([2**63 + row for row in range(rows)], pa.uint64()),
        "labels": lambda: pa.array([f"{row % 2}" for row in range(rows)]).dictionary_encode(),
    }
    table[name] = kinds[draw(st.sampled_from(sorted(kinds)))]()


@st.composite
def damaged_logs(draw: Any) -> Damaged:
    """A small log with up to three things done to it, as a file."""
    table = _flat()
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([name for name in COLUMNS if name in table]))
        deed = draw(st.sampled_from(["drop", "rename", "put", "put", "retype", "rows"]))
        if deed in ("drop", "rename"):
            column = table.pop(name)
            if deed == "rename":
                table[draw(st.text(max_size=8))] = column
        elif deed == "put":
            _put(draw, table, name)
        elif deed == "retype":
            _retype(draw, table, name)
        else:
            rows = len(table[name])
            chosen = draw(st.lists(st.integers(0, rows - 1), max_size=12)) if rows else []
            table = {key: column.take(pa.array(chosen, pa.int64())) for key, column in table.items()}
        if not set(COLUMNS) & set(table):
            break
    sink, form = pa.BufferOutputStream(), draw(st.sampled_from(["parquet", "csv"]))
    if form == "parquet":
        pq.write_table(pa.table(table), sink)
    else:
        decoded = {
            name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in table.items()
        }
        csv.write_csv(pa.table(decoded), sink)
    content = bytearray(sink.getvalue().to_pybytes())
    if draw(st.booleans()) and content:
        for place in draw(st.lists(st.integers(0, len(content) - 1), max_size=3)):
            content[place] = draw(st.integers(0, 255))
        if draw(st.booleans()):
            del content[draw(st.integers(0, len(content))) :]
    return Damaged(f"log.{form}", bytes(content))
