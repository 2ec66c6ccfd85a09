"""The weights that turn the log's rows into the policy's: ρ = π/μ, w = d̃_π/D, and how few rows they leave."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import NDArray

from offnac.evaluation.audit.policy import Probabilities
from offnac.logs import Log
from offnac.logs.padding import padded
from offnac.ratios import Fourier, LeastSquares, RatioData
from offnac.schedules import Clock
from offnac.transition import Spec, Transition

ROWS = 1 << 14
"""Rows that w is estimated from."""
STARTS = 1 << 10
CHUNK = 1 << 16
BINS = 40
"""Of the weights' histogram."""

ESTIMATOR = LeastSquares(features=Fourier(256), ridge=1e-3)
"""More rows than in learning bear more features and less shrinking towards w = 1."""


def weigh(log: Log, policy: Probabilities, gamma: float, seed: int) -> dict[str, Any]:
    """Effective sample sizes and tails of ρ and of wρ."""
    rho = ratios(log, policy)
    omega = rho * visitation(log, rho, gamma, seed)
    return {
        "effective_sample_size": {
            "rho": _effective(rho) / len(log),
            "w_rho": _effective(omega) / len(log),
            "rows": _effective(omega),
            # Rows of an episode are not independent of each other, episodes are.
            "episodes": _effective(np.bincount(log.episode, weights=omega)),
        },
        "tails": {"rho": _tail(rho), "w_rho": _tail(omega)},
        "histogram": histogram(omega),
        "mean_rho": float(rho.mean()),
        "mean_rho_se": float(rho.std() / len(rho) ** 0.5),
        "chi_square": float(((rho - 1.0) ** 2).mean()),
    }


def ratios(log: Log, policy: Probabilities) -> NDArray[np.float64]:
    """ρ of every row."""
    observation, action = np.asarray(log.rows.observation), np.asarray(log.rows.action)
    pi = np.empty(len(log))
    for begin in range(0, len(log), CHUNK):
        here = slice(begin, begin + CHUNK)
        chosen = action[here]
        pi[here] = policy(observation[here])[np.arange(len(chosen)), chosen]
    return pi / np.asarray(log.rows.behaviour_prob)


def visitation(
    log: Log,
    rho: NDArray[np.float64],
    gamma: float,
    seed: int,
    estimator: LeastSquares = ESTIMATOR,
    most: int = ROWS,
) -> NDArray[np.float64]:
    """w of every row, by direct least squares on ``most`` of them."""
    rng = np.random.default_rng(seed)
    some = rng.choice(len(log), min(most, len(log)), replace=False)
    columns: Any = (jnp.asarray(padded(np.asarray(column)[some])) for column in log.rows)
    initial = np.asarray(log.rows.observation)[rng.choice(log.initial, STARTS)]
    weight, rho_some = (
        jnp.asarray(padded(part.astype(np.float32))) for part in (np.ones(len(some)), rho[some])
    )
    data = RatioData(Transition(*columns), rho_some, jnp.asarray(initial), weight)
    state = _estimate(estimator, log.spec, data, gamma, jax.random.key(seed))
    w = np.empty(len(log))
    for begin in range(0, len(log), CHUNK):
        observation = np.asarray(log.rows.observation)[begin : begin + CHUNK]
        found = _ratio(estimator, state, jnp.asarray(padded(observation)))
        w[begin : begin + CHUNK] = np.asarray(found)[: len(observation)]
    return w


@jax.jit
def _estimate(estimator: LeastSquares, spec: Spec, data: RatioData, gamma: float, key: PRNGKeyArray) -> Any:
    return estimator.update(estimator.init(key, spec), data, gamma, key, Clock.start())[0]


@jax.jit
def _ratio(estimator: LeastSquares, state: Any, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
    return estimator.ratio(state, observation)


def _effective(weights: NDArray[Any]) -> float:
    """(Σω)²/Σω²: how many equal weights would tell as much."""
    squares = float((weights**2).sum())
    return float(weights.sum() ** 2 / squares) if squares > 0 else 0.0


def histogram(weights: NDArray[Any]) -> dict[str, list[float]]:
    """Up to the 99th percentile, above which all count as the last bar."""
    top = max(float(np.quantile(weights, 0.99)), 2.0)
    counts, edges = np.histogram(np.minimum(weights, top), BINS, (0.0, top))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _tail(weights: NDArray[np.float64]) -> dict[str, float]:
    top = np.partition(weights, -max(1, len(weights) // 100))[-max(1, len(weights) // 100) :]
    return {
        "p99": float(np.quantile(weights, 0.99)),
        "largest": float(weights.max()),
        "top_percent": float(top.sum() / max(weights.sum(), np.finfo(float).tiny)),
    }
