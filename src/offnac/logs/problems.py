"""What is wrong with a log, gathered so that it is told once, and where."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.errors import UserError

SHOWN = 3
"""Row numbers that a message names; the rest is counted."""


def rows_text(rows: NDArray[Any]) -> str:
    """Rows, by a mask or by their indices from 0, in words that count from 1."""
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    numbers = [f"{row + 1:,}" for row in np.sort(rows)[:SHOWN].tolist()]
    more = len(rows) - len(numbers)
    if len(rows) == 1:
        return f"row {numbers[0]}"
    if more:
        return f"rows {', '.join(numbers)} and {more:,} more"
    return f"rows {', '.join(numbers[:-1])} and {numbers[-1]}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def one_line(text: str) -> str:
    """Without what a column's name or a label may bring along that would break the line."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


class Problems:
    """Errors and warnings of one log."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, text: str) -> None:
        self._errors.append(one_line(text))

    def error_in(self, rows: NDArray[Any], text: str) -> None:
        """An error in some rows, if there are any; ``{rows}`` in the text says which."""
        if len(rows) and (rows.dtype != bool or rows.any()):
            self.error(text.replace("{rows}", rows_text(rows)))

    def warn(self, text: str) -> None:
        self.warnings.append(one_line(text))

    def warn_in(self, rows: NDArray[Any], text: str) -> None:
        if len(rows) and (rows.dtype != bool or rows.any()):
            self.warn(text.replace("{rows}", rows_text(rows)))

    def require_none(self) -> None:
        """End with one sentence if there were errors."""
        if not self._errors:
            return
        if len(self._errors) == 1:
            raise UserError(f"{self._log} cannot be used: {self._errors[0]}")
        listed = "; ".join(f"({number}) {text}" for number, text in enumerate(self._errors, 1))
        raise UserError(f"{self._log} cannot be used for {len(self._errors)} reasons: {listed}")
