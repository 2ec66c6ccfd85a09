"""The action column: numbers 0 … A − 1, or labels that are given such numbers in their order."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offnac.logs import fields
from offnac.logs.columns import Columns
from offnac.logs.problems import Problems

MOST = 1000
"""Actions beyond this are taken for a continuous quantity."""


class Actions(NamedTuple):
    number: NDArray[np.int32]
    size: int
    """A."""
    names: tuple[str, ...] | None
    """The labels, where the actions had others than their numbers."""


def read_actions(column: pa.ChunkedArray, name: str, known: Columns, problems: Problems) -> Actions:
    """``known`` says how many actions there are or what they are called, where that was declared."""
    column = fields.plain(column)
    missing = np.asarray(column.is_null())
    if missing.any():
        problems.error_in(missing, f"the column {name} has missing values in {{rows}}; leave these rows out")
        return Actions(np.zeros(len(column), np.int32), 1, None)
    if isinstance(known.actions, tuple):
        return _looked_up(column, name, known.actions, problems)
    if _whole(column):
        number = fields.integers(column, name, problems)
        different = np.sort(np.asarray(pc.unique(pa.chunked_array([pa.array(number)]))))
        foreign = known.action is not None and known.actions is None
        if not foreign or np.array_equal(different, np.arange(len(different))):
            return _numbered(number, different, name, known, problems)
    elif isinstance(known.actions, int):
        problems.error(
            f"the column {name} should hold whole numbers below {known.actions}, but it holds {column.type}; "
            "declare the labels of the actions instead of their number"
        )
        return Actions(np.zeros(len(column), np.int32), 1, None)
    return _labelled(column, name, problems)


def _whole(column: pa.ChunkedArray) -> bool:
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return True
    if not pa.types.is_floating(column.type):
        return False
    values = fields.loose_floats64(column)
    return bool(np.all(np.isfinite(values) & (values == np.floor(values))))


def _numbered(
    number: NDArray[np.int64], different: NDArray[np.int64], name: str, known: Columns, problems: Problems
) -> Actions:
    count = known.action_count or int(different[-1]) + 1
    outside = (number < 0) | (number >= count)
    if outside.any():
        problems.error_in(
            outside,
            f"the column {name} should hold actions from 0 to {count - 1}, but in {{rows}} it does not",
        )
        count = 1
    elif not known.action_count and count > max(MOST, 2 * len(different)):
        problems.error(
            f"the column {name} holds {len(different):,} different actions but numbers up to {count - 1:,}; "
            "name the column as the action to have its labels numbered"
        )
        count = 1
    return Actions(np.where(outside, 0, number).astype(np.int32), count, None)


def _labelled(column: pa.ChunkedArray, name: str, problems: Problems) -> Actions:
    """Labels get numbers in their own order."""
    try:
        labels = pc.unique(column)
        if len(labels) <= MOST:
            labels = labels.take(pc.array_sort_indices(labels))
    except pa.ArrowException:
        problems.error(f"the column {name} should hold actions or their labels, but it holds {column.type}")
        return Actions(np.zeros(len(column), np.int32), 1, None)
    if len(labels) > MOST:
        problems.error(
            f"the column {name} holds {len(labels):,} different values, too many for discrete actions; "
            "sort them into a few classes first"
        )
        return Actions(np.zeros(len(column), np.int32), 1, None)
    names = tuple(_text(label) for label in labels.to_pylist())
    shown = ", ".join(f"{label} = {number}" for number, label in enumerate(names[:8]))
    problems.warn(f"the actions in {name} are labels and were numbered: {shown}{', …' * (len(names) > 8)}")
    number = np.asarray(pc.index_in(column, value_set=labels)).astype(np.int32)
    return Actions(number, len(names), names)


def _looked_up(column: pa.ChunkedArray, name: str, names: tuple[str, ...], problems: Problems) -> Actions:
    """Labels in a declared order, so that two logs agree on their numbers."""
    try:
        labels = pc.unique(column)
        texts = np.array([names.index(_text(x)) if _text(x) in names else -1 for x in labels.to_pylist()])
        number = texts[np.asarray(pc.index_in(column, value_set=labels))].astype(np.int32)
    except pa.ArrowException:
        problems.error(f"the column {name} should hold labels of actions, but it holds {column.type}")
        return Actions(np.zeros(len(column), np.int32), len(names), names)
    problems.error_in(
        number < 0,
        f"the column {name} should hold one of the declared actions ({', '.join(names)}), "
        "but in {rows} it does not",
    )
    return Actions(np.maximum(number, 0), len(names), names)


def _text(label: object) -> str:
    """A label as people write it: 2.0 is 2."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
