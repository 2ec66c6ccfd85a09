"""Which curves the paper shows together: on-policy and off-policy by task, and TD(λ)."""

from typing import Any, NamedTuple

import numpy as np

from offnac.report.curves import Band, Key, spans_decades

TASKS = {
    "CartPole-v1": "CartPole",
    "Acrobot-v1": "Acrobot",
    "MountainCar-v0": "Mountain Car",
    "LunarLander-v3": "Lunar Lander",
}
ALGORITHMS = {"ac": "AC", "nac": "NAC", "offac": "OffAC", "offnac": "OffNAC"}
"""Short for the paper's Deep AC and so on."""


class Curve(NamedTuple):
    """One algorithm under one preset, with the summary of its cell and its bands by running average."""

    cell: dict[str, Any]
    bands: dict[str, Band]

    @property
    def algorithm(self) -> str:
        return algorithm(self.cell)

    @property
    def off_policy(self) -> bool:
        return _side(self.cell) == "Off-policy"

    @property
    def natural(self) -> bool:
        return self.cell["algorithm"].endswith("nac")


class Panel(NamedTuple):
    title: str
    curves: list[Curve]

    @property
    def log(self) -> bool:
        """Whether its heights, the paper's among them, need a logarithmic axis."""
        middles = [band.middle for curve in self.curves for band in curve.bands.values()]
        papers = [[curve.cell["paper"]["mean"]] for curve in self.curves]
        return spans_decades(np.concatenate([*middles, *papers]))


class Figure(NamedTuple):
    """``name`` is that of its files."""

    name: str
    title: str
    panels: list[Panel]


def figures(summary: dict[str, Any], bands: dict[Key, dict[str, Band]]) -> list[Figure]:
    """The paper's figures, as far as there are curves for them."""
    curves = [
        Curve(cell, bands[cell["cell"], cell["preset"]])
        for cell in summary["cells"]
        if (cell["cell"], cell["preset"]) in bands
    ]
    titles = {"on-policy": "On-policy", "off-policy": "Off-policy", "td-lambda": "TD(λ)"}
    found = []
    for name, title in titles.items():
        panels: dict[str, list[Curve]] = {}
        for curve in curves:
            if figure(curve.cell) == name:
                panels.setdefault(_panel(curve.cell), []).append(curve)
        if panels:
            found.append(Figure(name, title, [Panel(*panel) for panel in panels.items()]))
    return found


def figure(cell: dict[str, Any]) -> str:
    """The figure, and the table, of the paper that a cell belongs to."""
    return "td-lambda" if cell["lam"] else _side(cell).lower()


def algorithm(cell: dict[str, Any]) -> str:
    name = ALGORITHMS.get(cell["algorithm"], cell["algorithm"])
    return f"{name}(λ = {cell['lam']:g})" if cell["lam"] else name


def task(environment: str) -> str:
    return TASKS.get(environment, environment)


def _panel(cell: dict[str, Any]) -> str:
    name = task(cell["environment"])
    return f"{name}, {_side(cell).lower()}" if cell["lam"] else name


def _side(cell: dict[str, Any]) -> str:
    return "Off-policy" if cell["algorithm"].startswith("off") else "On-policy"
