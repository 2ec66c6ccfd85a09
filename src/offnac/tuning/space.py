"""Which settings are searched, and where; values are as JSON has them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from offnac.errors import UserError
from offnac.suggestions import did_you_mean


@dataclass(frozen=True)
class Range:
    low: float
    high: float
    log: bool = True

    def holding(self, value: Any) -> "Range":
        """The same, wide enough for the value that the search begins with."""
        return replace(self, low=min(self.low, value), high=max(self.high, value), log=self.log and value > 0)

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int)


@dataclass(frozen=True)
class Choice:
    values: tuple[Any, ...]

    def holding(self, value: Any) -> "Choice":
        value = list(value) if isinstance(value, tuple) else value
        return self if value in self.values else Choice((value, *self.values))

    @property
    def texts(self) -> tuple[str, ...]:
        """A study keeps no lists."""
        return tuple(json.dumps(value) for value in self.values)


Space = dict[str, Range | Choice]

TRAIN: Space = {
    "actor_rate": Range(0.01, 1.0),
    "kl": Range(1e-5, 3e-3),
    "value_rate": Range(3e-4, 1e-2),
    "target_rate": Range(0.01, 0.3),
    "updates": Range(1, 16),
    "memory": Range(0.0, 0.95, log=False),
    "ratio_ridge": Range(1e-3, 1.0),
    "ratio_bound": Range(3.0, 100.0),
    "actor": Choice(([16], [32], [64])),
    "batch": Choice((1280, 2560, 5120)),
    "capacity": Choice((1 << 13, 1 << 15, 1 << 18)),
    "entropy": Choice((None, 1e-3, 1e-2, 1e-1)),
    "evidence": Range(1, 16),
}
LEARN: Space = {
    "actor_rate": Range(0.1, 10.0),
    "kl": Range(1e-4, 1e-2),
    "kl_horizon": Range(0.05, 3.0),
    "value_rate": Range(3e-4, 1e-2),
    "target_rate": Range(0.01, 0.3),
    "caution": Range(0.01, 1.0),
    "depth": Range(4.0, 400.0),
    "share": Range(0.0, 0.75, log=False),
    "memory": Range(0.0, 0.95, log=False),
    "ratio_ridge": Range(1e-3, 1.0),
    "ratio_bound": Range(3.0, 100.0),
    "imitation_rate": Range(3e-4, 3e-2),
    "actor": Choice(([16], [32], [64])),
    "batch": Choice((1280, 2560, 5120)),
}
ON_REQUEST = ("actor", "batch", "capacity", "entropy", "evidence")
"""Not searched unless they are named: most of them shape the program, which is then compiled anew."""


def space(known: Space, algorithm: str, names: Sequence[str] | None, row: Any) -> Space:
    """What is searched for an algorithm: the settings named, or those that usually matter."""
    used = {name: part for name, part in known.items() if _used(name, algorithm)}
    for name in names or ():
        if name not in used:
            advice = did_you_mean(name, used, f"choose from {', '.join(used)}")
            raise UserError(f"'{name}' is no setting that {algorithm} can be tuned in; {advice}")
    chosen = names or [name for name in used if name not in ON_REQUEST]
    return {name: used[name].holding(getattr(row, name)) for name in chosen}


def _used(name: str, algorithm: str) -> bool:
    if algorithm == "bc":
        return name in ("imitation_rate", "actor", "batch")
    if name == "imitation_rate":
        return False
    if name == "memory":
        return algorithm.endswith("nac")
    return algorithm.startswith("off") or not name.startswith("ratio")
