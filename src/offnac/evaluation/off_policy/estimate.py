"""An estimate and its 95% interval.

To first order an estimate is a mean over episodes: each episode's influence says how far it moves the
estimate, everything that was fitted on the way included. The interval is a studentised bootstrap of these
influences over episodes: it knows that they are skewed, and that few episodes tell little.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 2000
GROUPS = 2048
"""More episodes than this are resampled in groups of several."""
WIDEST = math.tan(math.pi * CONFIDENCE / 2.0)
"""No interval is wider, in standard errors, than Student's from two independent numbers."""


class Estimate(NamedTuple):
    value: float
    low: float
    high: float


def within(estimate: Estimate, bounds: tuple[float, float]) -> Estimate:
    """The estimate and its interval, moved to what is possible at all."""
    return Estimate(*(float(number) for number in np.clip(estimate, *bounds)))


def from_influence(value: float, influence: NDArray[np.float64]) -> Estimate:
    """The interval of an estimate whose episodes have these influences (of which the mean is taken away)."""
    groups = min(len(influence), GROUPS)
    psi = np.bincount(np.arange(len(influence)) % groups, weights=influence) * (groups / len(influence))
    psi = psi - psi.mean()
    scale = np.abs(psi).max()
    if not scale > 0.0:
        return Estimate(float(value), float(value), float(value))
    psi = psi / scale
    times = _times(groups)
    mean, square = times @ psi / groups, times @ psi**2 / groups
    error = np.sqrt(np.maximum(square - mean**2, 1e-12) / (groups - 1))
    tails = np.quantile(mean / error, [(1.0 + CONFIDENCE) / 2.0, (1.0 - CONFIDENCE) / 2.0])
    low, high = value - np.clip(tails, -WIDEST, WIDEST) * psi.std(ddof=1) * scale / groups**0.5
    return Estimate(float(value), float(low), float(high))


@lru_cache(maxsize=4)
def _times(groups: int) -> NDArray[np.float64]:
    """How often each resample draws each group."""
    rng = np.random.default_rng(0)
    return rng.multinomial(groups, np.full(groups, 1.0 / groups), size=RESAMPLES).astype(float)


def widened(estimate: Estimate, fits: NDArray[np.float64]) -> Estimate:
    """The estimate, the mean of a few fits, with what their random numbers do to it: Student's interval of
    that mean, added to both sides as independent errors add."""
    spread = fits.std(ddof=1) / len(fits) ** 0.5
    reach = float(scipy.stats.t.ppf((1.0 + CONFIDENCE) / 2.0, len(fits) - 1) * spread)
    value, low, high = estimate
    return Estimate(
        value, value - float(np.hypot(value - low, reach)), value + float(np.hypot(high - value, reach))
    )
