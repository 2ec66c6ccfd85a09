"""What settings are worth: in a simulator by what is learned there, from a log by what the log says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from offnac import api, learning
from offnac.logs import Log
from offnac.presets import robust
from offnac.presets.from_log import LogRow, row_for
from offnac.tuning.progress import RunProgress
from offnac.tuning.space import LEARN, TRAIN

Share = Callable[[float], None]
"""Told the share of a run that is done."""


class Worth(NamedTuple):
    value: float
    """What is made as large as it can be."""
    parts: list[float]
    """What it is the mean of, one for each seed."""


@dataclass(frozen=True)
class InSimulator:
    """The mean over seeds of the test return of the best checkpoint."""

    environment: str
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)
    command = "train"
    known = TRAIN
    unit = "test return, mean over seeds"

    @property
    def row(self) -> robust.RobustRow:
        return robust.row(self.environment, self.algorithm, self.options.get("lam") or 0.0)

    def run(
        self, settings: dict[str, Any], out: Path, first_seed: int, seeds: int, report: Share, stop: Event
    ) -> Worth:
        result = api.train(
            self.environment,
            self.algorithm,
            preset="robust",
            **_asked(settings, out, first_seed, seeds, report, stop),
            **self.options,
        )
        tests = [run["test"]["mean"] for run in result["runs"]]
        return Worth(float(np.mean(tests)), tests)


@dataclass(frozen=True)
class FromLog:
    """The lower end of the learned policy's interval on held-out episodes, by the estimator that ``ope``
    recommends: it knows nothing of the learner's own critic, which the settings change."""

    log: Log
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)
    command = "learn"
    known = LEARN
    unit = "value on held-out episodes, lower end of the 95% interval"

    @property
    def row(self) -> LogRow:
        return row_for(len(self.log))

    def run(
        self, settings: dict[str, Any], out: Path, first_seed: int, seeds: int, report: Share, stop: Event
    ) -> Worth:
        result = learning.learn(
            self.log,
            self.algorithm,
            **_asked(settings, out, first_seed, seeds, report, stop),
            **self.options,
        )
        values = result["ope"]
        low = float(values["estimators"][values["recommended"]]["low"])
        return Worth(low, [low])


def _asked(
    settings: dict[str, Any], out: Path, first_seed: int, seeds: int, report: Share, stop: Event
) -> dict[str, Any]:
    """What ``train`` and ``learn`` are asked alike."""
    return {
        "settings": settings,
        "out": out,
        "seeds": seeds,
        "first_seed": first_seed,
        "resume": True,
        "report": RunProgress(seeds, report),
        "stop": stop,
    }
