"""The kernel k of D(w): k(x, y) = exp(−‖x − y‖² / 2ℓ²), with two ways to find ℓ."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.ratios.data import RatioData
from offnac.ratios.scaling import median_distance, squared_distances, standardise
from offnac.settings import settings

KernelFunction = Callable[[Float[Array, "n d"], Float[Array, "m d"]], Float[Array, "n m"]]


@settings
class Fixed:
    """A given length on raw states; length 1 was published (errata row 2)."""

    length: float = 1.0

    def kernel(self, data: RatioData) -> KernelFunction:
        return lambda x, y: jnp.exp(-squared_distances(x, y) / (2.0 * self.length**2))


@settings
class Median:
    """The median distance of states, in units of the data's mean and SD."""

    def kernel(self, data: RatioData) -> KernelFunction:
        scaling = standardise(data.batch.observation, data.weight)
        length = median_distance(scaling(data.batch.observation), data.weight)
        return lambda x, y: jnp.exp(-squared_distances(scaling(x), scaling(y)) / (2.0 * length**2))
