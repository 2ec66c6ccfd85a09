"""A column of a table as NumPy numbers of the kind that a log needs, with every value checked.

Each function takes what is at fault to the :class:`Problems` and goes on, so that all of it is told at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offnac.logs.problems import Problems

NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without a dictionary or an extension around its values."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def floats(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.float32]:
    """Finite float32 numbers."""
    values = loose_floats(column, name, problems)
    require_finite(values[:, None], [name], problems)
    return values


def require_finite(matrix: NDArray[np.float32], names: list[str], problems: Problems) -> None:
    """``names``: of its columns, or of the one that all of it comes from."""
    parts = (
        [(names[0], matrix)] if len(names) == 1 else zip(names, np.split(matrix, len(names), 1), strict=True)
    )
    for name, part in parts:
        problems.error_in(
            ~whole_rows(part),
            f"the column {name} holds missing, NaN or infinite numbers in {{rows}}; "
            "fill them in, or leave these rows out",
        )


def loose_floats(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.float32]:
    """float32 numbers; a missing one is NaN, and who calls decides what that means."""
    values = _as_type(plain(column), pa.float32(), "numbers", name, problems)
    return np.full(len(column), 0.0, np.float32) if values is None else values


def integers(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.int64]:
    column = plain(column)
    if pa.types.is_floating(column.type):
        values = loose_floats64(column)
        odd = ~(np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2.0**53))
        problems.error_in(odd, f"the column {name} should hold whole numbers, but in {{rows}} it does not")
        return np.where(odd, 0.0, values).astype(np.int64)
    missing = np.asarray(column.is_null())
    problems.error_in(missing, f"the column {name} has missing values in {{rows}}; fill them in")
    if missing.any():
        return np.zeros(len(column), np.int64)
    whole = _as_type(column, pa.int64(), "whole numbers", name, problems)
    return np.zeros(len(column), np.int64) if whole is None else whole


def loose_floats64(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return _numpy(column.cast(pa.float64(), safe=False))


def booleans(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.bool_]:
    """Truth values, also where they are written as 0 and 1 or as words."""
    column = plain(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        true, false = (
            np.asarray(pc.is_in(words, value_set=pa.array(set_, words.type))) for set_ in (TRUE, FALSE)
        )
    elif pa.types.is_boolean(column.type) or _is_number(column.type):
        values = loose_floats64(column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column)
        true, false = values == 1.0, values == 0.0
    else:
        problems.error(f"the column {name} should say true or false, but it holds {column.type}")
        return np.zeros(len(column), bool)
    problems.error_in(
        ~(true | false),
        f"the column {name} should say true or false (or 1 or 0), but in {{rows}} it does not",
    )
    return true


def is_vector(type_: pa.DataType) -> bool:
    return any(
        test(type_) for test in (pa.types.is_fixed_size_list, pa.types.is_list, pa.types.is_large_list)
    )


def vectors(column: pa.ChunkedArray, name: str, problems: Problems) -> NDArray[np.float32]:
    """A column of vectors of one length as a matrix, NaN where numbers or vectors are missing."""
    present = np.asarray(column.is_valid())
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
    size = int(lengths[present][0]) if present.any() else 0
    uneven = present & (lengths != size)
    problems.error_in(
        uneven,
        f"the vectors in {name} should all have the length {size} of the first, but in {{rows}} they differ",
    )
    if size == 0:
        problems.error(f"the vectors in {name} are empty, but an observation has at least one number")
    if uneven.any() or size == 0:
        return np.zeros((len(column), max(size, 1)), np.float32)
    flat = loose_floats(pc.list_flatten(column), name, problems).reshape(-1, size)
    if present.all():
        return flat
    matrix = np.full((len(column), size), np.nan, np.float32)
    matrix[present] = flat
    return matrix


def matrix(
    take: Callable[[str], pa.ChunkedArray],
    names: list[str],
    types: dict[str, pa.DataType],
    rows: int,
    problems: Problems,
) -> NDArray[np.float32]:
    """Observations from one column of vectors, or from a column for each number; NaN where missing."""
    if len(names) == 1 and is_vector(types[names[0]]):
        return vectors(take(names[0]), names[0], problems)
    values = np.empty((rows, len(names)), np.float32)
    for i, name in enumerate(names):
        values[:, i] = loose_floats(take(name), name, problems)
    return values


def whole_rows(matrix: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The rows without a missing or infinite number."""
    return np.asarray(np.isfinite(matrix).all(axis=1))


def _is_number(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)


def _as_type(
    column: pa.ChunkedArray, type_: pa.DataType, what: str, name: str, problems: Problems
) -> NDArray[Any] | None:
    """Cast numbers, or text that spells them; None once a problem is told."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        wrong = np.asarray(pc.fill_null(pc.invert(pc.match_substring_regex(column, NUMBER)), False))
        if wrong.any():
            first = column[int(np.flatnonzero(wrong)[0])].as_py()
            problems.error_in(
                wrong,
                f"the column {name} should hold {what}, but it holds text such as {first!r:.40} in {{rows}}",
            )
            return None
        column = pc.utf8_trim_whitespace(column).cast(pa.float64())
    elif pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    elif not _is_number(column.type):
        problems.error(f"the column {name} should hold {what}, but it holds {column.type}")
        return None
    try:
        # Arrow would call 2²⁴ + 1 no float32; to round is what is meant.
        return _numpy(column.cast(type_, safe=pa.types.is_integer(type_)))
    except pa.ArrowException:
        problems.error(f"the column {name} should hold {what}, but some are too large")
        return None


def _numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """Without a copy where the column is one piece without missing values."""
    if column.num_chunks == 1:
        return column.chunk(0).to_numpy(zero_copy_only=False)
    return column.to_numpy()
