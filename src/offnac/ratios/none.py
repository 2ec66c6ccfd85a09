"""w ≡ 1: the data is π's own (Algorithm 1)."""

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.ratios.data import RatioData
from offnac.ratios.info import RatioInfo, describe
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.transition import Spec


@settings
class One:
    def init(self, key: PRNGKeyArray, spec: Spec) -> tuple[()]:
        return ()

    def update(
        self, state: tuple[()], data: RatioData, gamma: float, key: PRNGKeyArray, clock: Clock
    ) -> tuple[tuple[()], RatioInfo]:
        w = jnp.ones_like(data.rho)
        return state, describe(w, data.rho, data.weight, jnp.zeros((), w.dtype))

    def ratio(self, state: tuple[()], observations: Float[Array, "n d"]) -> Float[Array, " n"]:
        return jnp.ones(observations.shape[0], observations.dtype)
