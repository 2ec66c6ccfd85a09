"""How training tells what it is doing, and how it is asked to stop."""

from collections.abc import Callable
from typing import NamedTuple

from offnac.errors import Stopped

__all__ = ["Fitting", "Report", "Stopped", "Update", "silent"]


class Update(NamedTuple):
    """News of one seed."""

    seed: int
    episodes: int
    """Training episodes done so far."""
    of: int
    """Training episodes in all."""
    steps: int
    average: float
    doing: str | None = None
    """What takes a while between two episodes."""


Report = Callable[[Update], None]

Fitting = Callable[[int, int], None]
"""Told how many steps of a fit are done, and of how many."""


def silent(update: Update) -> None:
    """Report to nobody."""
