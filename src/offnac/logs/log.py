"""A log in memory: validated columns, ready to be learned from."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.logs.calibration import Calibration
from offnac.transition import Spec, Transition

LOGGED, FITTED = "logged", "fitted"


@dataclass(frozen=True)
class Log:
    """Steps of somebody's decisions, episode after episode, each in order."""

    spec: Spec
    rows: Transition
    """NumPy columns; observations as they were recorded, in float32."""
    episode: NDArray[np.int64]
    """The number of each row's episode: 0, 1, … E − 1, never decreasing."""
    behaviour: str | None = LOGGED
    """Where behaviour_prob comes from: logged, fitted, or None where it is not known (and 1)."""
    warnings: tuple[str, ...] = ()
    """What was dropped or looks odd, a sentence each."""
    action_names: tuple[str, ...] | None = None
    """What the actions 0 … A − 1 are called, where they had names."""
    observation_names: tuple[str, ...] | None = None
    """What the numbers of an observation are called."""
    calibration: Calibration | None = None
    """How good fitted probabilities are."""

    def __len__(self) -> int:
        return len(self.episode)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each episode."""
        return np.flatnonzero(np.diff(self.episode, prepend=-1)).astype(np.int64)

    @property
    def initial(self) -> NDArray[np.int64]:
        """Rows of s₀ ~ d₀; where all episodes were joined late, their first rows."""
        rows = np.flatnonzero(self.rows.step == 0).astype(np.int64)
        return rows if len(rows) else self.starts

    @property
    def episodes(self) -> int:
        return int(self.episode[-1]) + 1 if len(self) else 0

    def returns(self, gamma: float = 1.0) -> NDArray[np.float64]:
        """Each episode's return, discounted by γ^t."""
        weights = np.asarray(self.rows.reward, np.float64) * gamma ** np.asarray(self.rows.step, np.float64)
        return np.bincount(self.episode, weights=weights, minlength=self.episodes).astype(float)

    def scaling(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Mean and SD of the observations; a number that never changes keeps its own unit."""
        observation = np.asarray(self.rows.observation)
        mean = np.asarray(observation.mean(axis=0, dtype=np.float64))
        sd = observation.std(axis=0, dtype=np.float64)
        rounding = 10 * np.finfo(np.float32).eps * np.abs(mean)
        return mean.astype(np.float32), np.where(sd > rounding, sd, 1.0).astype(np.float32)

    def take(self, chosen: NDArray[Any]) -> "Log":
        """The log of some episodes, by their numbers, in the order of the log."""
        return self.keep(np.isin(self.episode, chosen))

    def keep(self, kept: NDArray[np.bool_]) -> "Log":
        """The log of some rows; an episode whose end is not among them is cut short where they stop."""
        columns: Any = (np.asarray(column)[kept] for column in self.rows)
        rows, episode = Transition(*columns), self.episode[kept]
        first = np.diff(episode, prepend=-1) > 0
        rows = rows._replace(truncated=rows.truncated | (np.append(first[1:], True) & ~rows.terminated))
        return replace(self, rows=rows, episode=np.cumsum(first) - 1)
