"""Where episodes begin, in which order their steps are, and how they end."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offnac.logs import fields
from offnac.logs.problems import Problems, counted

Mask = NDArray[np.bool_]


class Marks(NamedTuple):
    """The columns that tell episodes apart, as far as a table has them; in the table's order."""

    episode: NDArray[np.int64] | None
    step: NDArray[np.int64] | None
    terminated: Mask | None
    truncated: Mask | None


class Episodes(NamedTuple):
    """In the log's order."""

    order: NDArray[np.int64] | None
    """The table's row of each row of the log; None: they are the same."""
    episode: NDArray[np.int64]
    step: NDArray[np.int32]
    terminated: Mask
    truncated: Mask
    last: Mask
    """The rows that end their episode."""


def codes(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.int64]:
    """Any identifiers of episodes (numbers, text, dates) as numbers that differ where they differ."""
    column = fields.plain(column)
    missing = np.asarray(column.is_null())
    problems.error_in(missing, f"the column {name} has missing values in {{rows}}; fill them in")
    if missing.any():
        return np.zeros(len(column), np.int64)
    if pa.types.is_integer(column.type):
        return fields.integers(column, name, problems)
    try:
        encoded = pc.dictionary_encode(column.combine_chunks())
    except pa.ArrowException:
        problems.error(f"the column {name} should tell episodes apart, but it holds {column.type}")
        return np.zeros(len(column), np.int64)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return np.asarray(encoded.indices).astype(np.int64)


def arrange(marks: Marks, rows: int, follows: bool, problems: Problems) -> Episodes:
    """``follows``: the table knows where each row leads, so that rows may be missing in between."""
    order, episode = _numbered(marks, rows, problems)
    if order is not None:
        reordered: Any = (None if mark is None else mark[order] for mark in marks)
        marks = Marks(*reordered)
    where = np.arange(rows) if order is None else order
    first = np.diff(episode, prepend=-1) > 0
    last = np.append(first[1:], True)
    terminated, truncated = _endings(marks, last, where, problems)
    step = _counted(first) if marks.step is None else _checked(marks.step, first, where, follows, problems)
    return Episodes(order, episode, step, terminated, truncated, last)


def _numbered(
    marks: Marks, rows: int, problems: Problems
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Number the episodes 0, 1, …; rows of an episode that are apart are brought together."""
    if marks.episode is not None:
        changes = np.append(False, np.diff(marks.episode) != 0)
        names = marks.episode[np.append(0, np.flatnonzero(changes))]
        different, number = np.unique(names, return_inverse=True)
        if len(different) == len(names):
            return None, np.cumsum(changes)
        problems.warn(
            f"the table leaves and comes back to an episode {counted(len(names) - len(different), 'time')}; "
            "the rows of each were brought together, in the order of the table"
        )
        # In the order in which the episodes first appear.
        appearance = np.full(len(different), len(names))
        np.minimum.at(appearance, number, np.arange(len(names)))
        rank = np.argsort(np.argsort(appearance))[number]
        episode = rank[np.cumsum(changes)]
        order = np.argsort(episode, kind="stable")
        return order, episode[order]
    begins = np.zeros(rows, bool)
    for ended in (marks.terminated, marks.truncated):
        if ended is not None:
            begins[1:] |= ended[:-1]
    if marks.step is not None:
        begins[1:] |= np.diff(marks.step) <= 0
    if all(mark is None for mark in marks):
        problems.error(
            "nothing tells where an episode ends: name a column for the episode, or one for terminated"
        )
    return None, np.cumsum(begins)


def _endings(marks: Marks, last: Mask, where: NDArray[np.int64], problems: Problems) -> tuple[Mask, Mask]:
    terminated, truncated = marks.terminated, marks.truncated
    none = np.zeros(len(last), bool)
    if terminated is None and truncated is None:
        problems.warn(
            "no column says how episodes end, so the last row of each is taken as the end of the task "
            "(terminated)"
        )
        return last.copy(), none
    if terminated is None:
        assert truncated is not None
        problems.warn(
            "there is no column for terminated, so episodes that are not truncated are taken to end with it"
        )
        terminated = last & ~truncated
    elif truncated is None:
        truncated = last & ~terminated
        if truncated.any():
            problems.warn(
                f"there is no column for truncated, so {counted(int(truncated.sum()), 'episode')} without a "
                "termination at the end counts as cut short"
            )
    ended = terminated | truncated
    problems.error_in(
        where[ended & ~last],
        "after {rows} the same episode goes on although it is terminated or truncated there; "
        "number the episodes apart, or correct these marks",
    )
    open_ = last & ~ended
    if marks.terminated is not None and marks.truncated is not None:
        problems.warn_in(
            where[open_],
            "the episodes that end in {rows} are neither terminated nor truncated there; "
            "they are taken to be cut short",
        )
    return terminated, truncated | open_


def _counted(first: Mask) -> NDArray[np.int32]:
    """Steps since the start of the episode, by counting rows."""
    row = np.arange(len(first), dtype=np.int64)
    return (row - np.maximum.accumulate(np.where(first, row, 0))).astype(np.int32)


def _checked(
    step: NDArray[np.int64], first: Mask, where: NDArray[np.int64], follows: bool, problems: Problems
) -> NDArray[np.int32]:
    rise = np.diff(step, prepend=step[:1])
    problems.error_in(
        where[~first & (rise <= 0)],
        "steps should go up by 1 within an episode, but in {rows} they do not; "
        "sort the rows by episode and step, and number episodes apart",
    )
    gaps = where[~first & (rise > 1)]
    if follows:
        problems.warn_in(gaps, "steps are missing before {rows}; returns of these episodes are not whole")
    else:
        problems.error_in(
            gaps,
            "steps are missing before {rows}, so the row before does not tell where it led; "
            "add the missing rows, leave these episodes out, or leave out the column of steps",
        )
    # Whoever counts from 1 means the same first step.
    step = step - step[first].min()
    if step.max() >= 2**31:
        problems.error("steps should be numbers below 2147483648, but they are larger")
        step = np.zeros_like(step)
    return step.astype(np.int32)
