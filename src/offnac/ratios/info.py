"""What to watch of a ratio: a loss near zero does not mean that w is right (errata, density ratios)."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.ratios.data import average, normalised


class RatioInfo(NamedTuple):
    mean: Float[Array, ""]
    """E_D[w] before normalisation: the sum of d̃_π for direct least squares, open for a network (row 23)."""
    tail: Float[Array, ""]
    """The weighted 99th percentile of wρ."""
    largest: Float[Array, ""]
    """max wρ."""
    effective_sample_size: Float[Array, ""]
    """As a fraction of the rows."""
    loss: Float[Array, ""]


def effective_sample_size(
    omega: Float[Array, " n"], weight: Float[Array, " n"] | None = None
) -> Float[Array, ""]:
    """(Σω)² / (nΣω²) of ω = wρ over the n rows with weight: 1 where all count alike, 1/n where one counts."""
    weight = jnp.ones_like(omega) if weight is None else weight
    second = average(omega**2, weight)
    return average(omega, weight) ** 2 / jnp.where(second > 0, second, 1.0)


def percentile(values: Float[Array, " n"], weight: Float[Array, " n"], q: float) -> Float[Array, ""]:
    """The smallest value at or below which a fraction q of the weight lies."""
    order = jnp.argsort(values)
    reached = jnp.cumsum(normalised(weight)[order])
    return values[order][jnp.argmax(reached >= q * reached[-1])]


def describe(
    w: Float[Array, " n"], rho: Float[Array, " n"], weight: Float[Array, " n"], loss: Float[Array, ""]
) -> RatioInfo:
    """Describe w as it enters the updates; an estimator that normalises puts its own mean in."""
    omega = jnp.where(weight > 0, w * rho, 0.0)
    return RatioInfo(
        mean=average(jnp.where(weight > 0, w, 0.0), weight),
        tail=percentile(omega, weight, 0.99),
        largest=omega.max(),
        effective_sample_size=effective_sample_size(omega, weight),
        loss=jnp.asarray(loss),
    )
