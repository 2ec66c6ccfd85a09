"""Summaries that a reader can trust: of episodes of one policy, and across seeds."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def of_episodes(returns: ArrayLike) -> dict[str, Any]:
    """Mean with SD and standard error of the total reward over episodes (errata row 19: both)."""
    values = np.asarray(returns, float)
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return {
        "mean": float(values.mean()),
        "sd": sd,
        "se": sd / values.size**0.5,
        "episodes": int(values.size),
    }


def quantiles(returns: ArrayLike) -> dict[str, float]:
    values = np.quantile(np.asarray(returns, float), QUANTILES)
    return {f"{q:g}": float(value) for q, value in zip(QUANTILES, values, strict=True)}


def interquartile_mean(values: ArrayLike, axis: int = -1) -> Any:
    return scipy.stats.trim_mean(values, 0.25, axis=axis)


def across_seeds(values: ArrayLike, confidence: float = 0.95) -> dict[str, Any]:
    """Interquartile mean with a bootstrap interval, median, best and worst; never the lucky seed alone."""
    values = np.asarray(values, float)
    iqm = float(interquartile_mean(values))
    low = high = iqm
    if values.size > 1 and np.ptp(values) > 0:
        interval = scipy.stats.bootstrap(
            (values,),
            interquartile_mean,
            confidence_level=confidence,
            n_resamples=2000,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    return {
        "iqm": iqm,
        "low": low,
        "high": high,
        "median": float(np.median(values)),
        "best": float(values.max()),
        "worst": float(values.min()),
        "seeds": int(values.size),
    }


def probability_of_improvement(
    better: ArrayLike, than: ArrayLike, confidence: float = 0.95, resamples: int = 2000
) -> dict[str, Any]:
    """P(X > Y) for a seed of each, a tie counted half (Mann-Whitney's U over all pairs), with a
    percentile bootstrap interval over the seeds."""
    x, y = np.asarray(better, float), np.asarray(than, float)
    wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)
    rng = np.random.default_rng(0)
    # Resampling seeds with replacement is to weigh each by how often it was drawn.
    times_x, times_y = (
        rng.multinomial(values.size, np.full(values.size, 1.0 / values.size), size=resamples)
        for values in (x, y)
    )
    drawn = ((times_x @ wins) * times_y).sum(axis=1) / wins.size
    low, high = np.quantile(drawn, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return {
        "probability": float(wins.mean()),
        "low": float(low),
        "high": float(high),
        "seeds": [int(x.size), int(y.size)],
    }
