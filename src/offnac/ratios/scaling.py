"""Units for states: the data's mean and SD, and a length typical of distances between them."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.ratios.data import average

SUBSET, PARTNERS = 256, 16
"""Rows that the median distance looks at, and others that each is compared with where there are so many: its
error is a few per cent, and a sort of all pairs would cost more than the whole fit."""


class Scaling(NamedTuple):
    mean: Float[Array, " d"]
    sd: Float[Array, " d"]

    def __call__(self, observations: Float[Array, "... d"]) -> Float[Array, "... d"]:
        return (observations - self.mean) / self.sd


def standardise(observations: Float[Array, "n d"], weight: Float[Array, " n"]) -> Scaling:
    mean = average(observations, weight)
    sd = jnp.sqrt(average((observations - mean) ** 2, weight))
    # A coordinate that does not vary beyond rounding keeps its own unit.
    rounding = 10 * jnp.finfo(sd.dtype).eps * jnp.abs(mean)
    return Scaling(mean, jnp.where(sd > rounding, sd, 1.0))


def squared_distances(x: Float[Array, "n d"], y: Float[Array, "m d"]) -> Float[Array, "n m"]:
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)


def median_distance(points: Float[Array, "n d"], weight: Float[Array, " n"]) -> Float[Array, ""]:
    """The median distance between two different points that are there; 1 where there are no two."""
    count = min(SUBSET, len(points))
    rows = jnp.linspace(0, len(points) - 1, count).astype(int)
    points, there = points[rows], weight[rows] > 0
    # Each with rows at many distances from it in time, for rows that follow each other are alike.
    apart = jnp.linspace(1, count - 1, PARTNERS).astype(int) if count == SUBSET else jnp.arange(1, count)
    partner = (jnp.arange(count) + apart[:, None]) % count
    distances = jnp.sqrt(((points - points[partner]) ** 2).sum(-1))
    counted = (distances > 0) & there & there[partner]
    median = jnp.nanmedian(jnp.where(counted, distances, jnp.nan))
    return jnp.where(counted.any(), median, 1.0)
