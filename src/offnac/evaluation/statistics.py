"""Summaries that a reader can trust: of episodes of one policy, and across seeds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

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
    return stats.trim_mean(values, 0.25, axis=axis)


def across_seeds(values: ArrayLike, confidence: float = 0.95) -> dict[str, Any]:
    """Interquartile mean with a bootstrap interval, median, best and worst; never the lucky seed alone."""
    values = np.asarray(values, float)
    iqm = float(interquartile_mean(values))
    low = high = iqm
    if values.size > 1 and np.ptp(values) > 0:
        interval = stats.bootstrap(
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
