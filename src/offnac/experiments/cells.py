"""The cells of the paper's tables: a task, an algorithm, and the return that the paper prints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from offnac.errors import UserError
from offnac.presets import PRESETS, tables
from offnac.suggestions import did_you_mean

REPORTED = ("published", "paper", "robust")
"""Presets that a reproduction shows unless told otherwise."""


@dataclass(frozen=True)
class Cell:
    """``lam`` is None for TD(0). ``mean`` and ``sd``: the paper's total reward over 1000 test episodes of
    the best checkpoint of one run."""

    name: str
    environment: str
    algorithm: str
    lam: float | None
    mean: float
    sd: float


_TASKS = {
    "CartPole-v1": "cartpole",
    "Acrobot-v1": "acrobot",
    "MountainCar-v0": "mountaincar",
    "LunarLander-v3": "lunarlander",
}
_PAPER = {
    "CartPole-v1": {
        "ac": (497.20, 6.29),
        "nac": (498.60, 4.90),
        "offac": (499.62, 0.95),
        "offnac": (500.00, 0.00),
    },
    "Acrobot-v1": {
        "ac": (-83.91, 4.92),
        "nac": (-84.83, 6.31),
        "offac": (-85.33, 5.36),
        "offnac": (-84.28, 4.78),
    },
    "MountainCar-v0": {
        "ac": (-448.95, 29.10),
        "nac": (-291.13, 8.38),
        "offac": (-874.62, 76.17),
        "offnac": (-202.62, 8.85),
    },
    "LunarLander-v3": {
        "ac": (171.51, 24.14),
        "nac": (179.93, 15.90),
        "offac": (87.05, 27.55),
        "offnac": (215.14, 12.97),
    },
}
_PAPER_LAMBDA = {
    "MountainCar-v0": {
        "ac": (-147.70, 7.39),
        "nac": (-143.29, 6.02),
        "offac": (-771.47, 56.07),
        "offnac": (-192.66, 9.00),
    },
}

CELLS = (
    *(
        Cell(f"{_TASKS[task]}-{algorithm}", task, algorithm, None, mean, sd)
        for task, row in _PAPER.items()
        for algorithm, (mean, sd) in row.items()
    ),
    *(
        Cell(f"{_TASKS[task]}-{algorithm}-lambda", task, algorithm, tables.LAMBDA[algorithm], mean, sd)
        for task, row in _PAPER_LAMBDA.items()
        for algorithm, (mean, sd) in row.items()
    ),
)


def select_cells(patterns: Sequence[str]) -> tuple[Cell, ...]:
    """The cells that names, beginnings of names, task ids or wildcards stand for, in the paper's order."""
    chosen: set[str] = set()
    for pattern in patterns:
        found = _matches(pattern)
        if not found:
            known = [*_TASKS.values(), *(cell.name for cell in CELLS)]
            raise _unknown("cell", pattern, known, "names such as cartpole-nac, cartpole or *-lambda")
        chosen |= found
    if not chosen:
        raise UserError("no cell was chosen; give names such as cartpole-nac, cartpole or *-lambda")
    return tuple(cell for cell in CELLS if cell.name in chosen)


def _matches(pattern: str) -> set[str]:
    """A whole name means itself alone: mountaincar-nac is not mountaincar-nac-lambda."""
    pattern = pattern.lower()
    names = [cell.name for cell in CELLS]
    if pattern in names:
        return {pattern}
    if any(mark in pattern for mark in "*?["):
        return {name for name in names if fnmatchcase(name, pattern)}
    tasks = {cell.name for cell in CELLS if cell.environment.lower() == pattern}
    return tasks or {name for name in names if pattern and name.startswith(pattern)}


def select_presets(names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The presets by name, each once; those that a reproduction shows if none is named."""
    if names is None:
        return tuple(name for name in REPORTED if name in PRESETS)
    for name in names:
        if name not in PRESETS:
            raise _unknown("preset", name, PRESETS, ", ".join(PRESETS))
    if not names:
        raise UserError(f"no preset was chosen; choose from {', '.join(PRESETS)}")
    return tuple(dict.fromkeys(names))


def _unknown(what: str, name: str, known: Iterable[str], choices: str) -> UserError:
    return UserError(f"{what} '{name}' is not known; {did_you_mean(name, known, f'choose from {choices}')}")
