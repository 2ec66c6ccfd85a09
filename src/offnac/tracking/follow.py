"""Follow a run by what it leaves on disk.

Whoever does the work, a thread, another process or one program for all seeds, saves each seed's table as it
grows; news of a seed is the occasion to read it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

import pyarrow.parquet as pq

from offnac import files
from offnac.tracking.tracker import Seed
from offnac.tracking.trackers import TRACKERS


class News(Protocol):
    @property
    def seed(self) -> int: ...


N = TypeVar("N", bound=News)


@contextmanager
def following(
    names: Sequence[str],
    out: Path,
    seeds: Sequence[int],
    table: str,
    about: dict[str, Any],
    report: Callable[[N], None],
) -> Iterator[Callable[[N], None]]:
    """``report``, which also sends the new rows of the seed's ``table`` to the trackers of these names."""
    if not names:
        yield report
        return
    lock, followers = Lock(), {}
    with ExitStack() as stack:
        for seed in seeds:
            followers[seed] = _Follower(names, Seed(out, seed, about), table)
            stack.callback(followers[seed].close)

        def both(news: N) -> None:
            report(news)
            with lock:
                followers[news.seed].look()

        yield both


class _Follower:
    """One seed's table on its way to the trackers; its first column counts the rows."""

    def __init__(self, names: Sequence[str], seed: Seed, table: str) -> None:
        self.trackers = [TRACKERS[name](seed) for name in names]
        self.path, self.rows = seed.out / seed.name / f"{table}.parquet", 0
        self.result = self.path.with_name("result.json")
        self.seen = 0

    def look(self) -> None:
        changed = self.path.stat().st_mtime_ns if self.path.exists() else 0
        if changed == self.seen:
            return
        self.seen = changed
        for row in pq.read_table(self.path).slice(self.rows).to_pylist():
            step, *_ = row.values()
            numbers = _finite(dict(list(row.items())[1:]))
            for tracker in self.trackers:
                if step >= tracker.first:
                    tracker.write(step, numbers)
            self.rows += 1

    def close(self) -> None:
        self.look()
        result = _finite(_flat("result/", files.read_json(self.result))) if self.result.exists() else {}
        for tracker in self.trackers:
            tracker.close(result)


def _flat(prefix: str, value: dict[str, Any]) -> dict[str, Any]:
    """The numbers of nested results, under names such as ``result/test/mean``."""
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            flat |= _flat(f"{prefix}{name}/", inner)
        elif isinstance(inner, int | float) and not isinstance(inner, bool) and name != "seed":
            flat[f"{prefix}{name}"] = inner
    return flat


def _finite(numbers: dict[str, Any]) -> dict[str, float]:
    """What a chart can show: a diverged run has numbers that are none."""
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}
