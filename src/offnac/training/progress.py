"""How training tells what it is doing, and how it is asked to stop."""

from collections.abc import Callable
from typing import NamedTuple


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


class Stopped(Exception):
    """Training stopped on request, between two episodes, with everything saved."""


def silent(update: Update) -> None:
    """Report to nobody."""
