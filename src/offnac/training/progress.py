"""How training tells what it is doing, and how it is asked to stop."""

from collections.abc import Callable
from typing import NamedTuple

from offnac.errors import Stopped

__all__ = ["Report", "Stopped", "Update", "silent"]


class Update(NamedTuple):
    """News of one seed."""

    seed: int
    episodes: int
    """Training episodes done so far."""
    of: int
    """Training episodes in all."""
    steps: int
    average: float


Report = Callable[[Update], None]


def silent(update: Update) -> None:
    """Report to nobody."""
