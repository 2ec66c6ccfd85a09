"""The units that a log is learned in: of its observations, and of its rewards."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offnac.logs.log import Log


@dataclass(frozen=True)
class Units:
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    """Observations are learned from as (s − mean)/scale."""
    reward: float
    """The mean size of a reward."""


def units(log: Log) -> Units:
    """Mean and SD of the states, and the mean |r|; what does not vary beyond rounding keeps its own unit."""
    observation = np.asarray(log.rows.observation)
    mean = observation.mean(axis=0, dtype=np.float64)
    sd = observation.std(axis=0, dtype=np.float64)
    varies = sd > 10 * np.finfo(np.float32).eps * np.maximum(np.abs(mean), np.finfo(np.float32).tiny)
    size = float(np.abs(log.rows.reward).mean(dtype=np.float64))
    return Units(
        mean.astype(np.float32),
        np.where(varies, sd, 1.0).astype(np.float32),
        size if size > 0.0 else 1.0,
    )
