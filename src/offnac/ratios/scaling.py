"""Units for states: the data's mean and SD, and a length typical of distances between them."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.ratios.data import average

SUBSET = 64
"""Rows that the median distance looks at: its error is some per cent, its cost quadratic."""


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
    rows = jnp.linspace(0, len(points) - 1, min(SUBSET, len(points))).astype(int)
    points, there = points[rows], weight[rows] > 0
    distances = jnp.sqrt(squared_distances(points, points))
    counted = (distances > 0) & there[:, None] & there[None, :]
    median = jnp.nanmedian(jnp.where(counted, distances, jnp.nan))
    return jnp.where(counted.any(), median, 1.0)
