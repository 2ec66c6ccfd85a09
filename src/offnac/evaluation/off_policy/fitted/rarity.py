"""How much each row alone tells of where it is: what a fit should look at more often than chance would.

A policy worth asking about goes where the log seldom does. Half of the draws are by leverage, ϕᵀΦ⁻¹ϕ in the
features of the ratios: large where rows are few. It must not look at what followed: rows chosen by their
outcome, such as those that ended, would teach that outcome at every similar row.
"""

from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from offnac.evaluation.off_policy.evidence import CHUNK
from offnac.logs.padding import padded
from offnac.ratios import Fourier
from offnac.ratios.scaling import median_distance
from offnac.transition import Spec

FEATURES = Fourier(128)
RIDGE = 1e-5
"""Of Φ, whose trace is about 2."""
LOOK = 1 << 14
"""Rows that Φ is made of."""
BY_LEVERAGE = 0.5


def shares(observation: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each of these standardised states should be drawn; 1 on average."""
    some = observation[rng.choice(len(observation), min(LOOK, len(observation)), replace=False)]
    state = _begin(padded(some), padded(np.ones(len(some), np.float32)))
    phi = _phi(state, some)
    root = np.linalg.cholesky(phi.T @ phi / len(phi) + RIDGE * np.eye(phi.shape[1]))
    chunks = (observation[i : i + CHUNK] for i in range(0, len(observation), CHUNK))
    leverage = np.concatenate(
        [(solve_triangular(root, _phi(state, chunk).T, lower=True) ** 2).sum(axis=0) for chunk in chunks]
    )
    return np.asarray(1.0 - BY_LEVERAGE + BY_LEVERAGE * leverage / leverage.mean())


def _phi(state: Any, observation: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.asarray(_features(state, padded(observation)))[: len(observation)].astype(float)


@jax.jit
def _begin(observation: Float[Array, "n d"], there: Float[Array, " n"]) -> Any:
    state = FEATURES.init(jax.random.key(0), Spec("", observation.shape[1], 0))
    return state._replace(length=median_distance(observation, there))


@jax.jit
def _features(state: Any, observation: Float[Array, "n d"]) -> Float[Array, "n k"]:
    return FEATURES(state, observation)
