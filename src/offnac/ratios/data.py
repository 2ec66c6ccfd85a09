"""What a ratio estimator sees, and averages over it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from offnac.transition import Transition


class RatioData(NamedTuple):
    """Rows of the data distribution D, and draws of the initial state."""

    batch: Transition
    rho: Float[Array, " n"]
    """π(a|s)/μ(a|s) under the current θ."""
    initial: Float[Array, "m d"]
    """Draws of s₀ ~ d₀."""
    weight: Float[Array, " n"]
    """Row weights, up to scale; 0: the row is not there (a rollout that ended early)."""


def present(data: RatioData) -> RatioData:
    """The same data with absent rows blanked: they may hold anything, and 0·∞ is not 0."""
    there = data.weight > 0

    def blank(leaf: Array) -> Array:
        return jnp.where(there.reshape(-1, *[1] * (leaf.ndim - 1)), leaf, jnp.zeros_like(leaf))

    return data._replace(batch=jax.tree.map(blank, data.batch), rho=blank(data.rho))


def normalised(weight: Float[Array, " n"]) -> Float[Array, " n"]:
    """weight / Σ weight; all zero where there is no weight at all."""
    total = weight.sum()
    return weight / jnp.where(total > 0, total, 1.0)


def average(values: Float[Array, "n *rest"], weight: Float[Array, " n"]) -> Float[Array, "*rest"]:
    """E_D[values]."""
    return jnp.tensordot(normalised(weight), values, axes=1)


def choose(condition: Bool[Array, ""], new: Any, old: Any) -> Any:
    """``new`` where there was something to learn from, else ``old``."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)
