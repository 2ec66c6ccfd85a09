"""Behaviour cloning: the gradient of the mean log-likelihood of the logged actions, whatever they earned."""

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac import compatible
from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.transition import Transition


@settings
class Imitation:
    def init(self, key: PRNGKeyArray, theta: Parameters) -> tuple[()]:
        return ()

    def update(
        self,
        state: tuple[()],
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
        clock: Clock,
    ) -> tuple[tuple[()], Parameters]:
        return state, compatible.combine(policy, theta, batch, jnp.full_like(delta, 1.0 / delta.shape[0]))
