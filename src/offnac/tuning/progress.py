"""How a search tells what it is doing."""

from collections.abc import Callable
from typing import Any, NamedTuple


class TuneUpdate(NamedTuple):
    stage: str
    unit: str
    done: float
    """Units done so far; the one in hand counts by the share of it that is done."""
    of: int
    best: float | None


Report = Callable[[TuneUpdate], None]


class RunProgress:
    """The share of a run that is done, from the news of its seeds."""

    def __init__(self, seeds: int, report: Callable[[float], None]) -> None:
        self.seeds, self.report = seeds, report
        self.shares: dict[int, float] = {}

    def __call__(self, news: Any) -> None:
        seed, done, of, *_ = news
        self.shares[seed] = done / of
        self.report(sum(self.shares.values()) / self.seeds)
