"""Rows in rooms of a few sizes, so that another log does not mean another compiled program."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1 << 12
"""Rows that every program has room for."""


def padded(column: NDArray[Any]) -> NDArray[Any]:
    """The column with zeros behind it, as long as the next power of two."""
    room = max(SMALLEST, 1 << (len(column) - 1).bit_length())
    if room == len(column):
        return column
    full = np.zeros((room, *column.shape[1:]), column.dtype)
    full[: len(column)] = column
    return full
