"""The natural gradient x, found iteratively: x ← x + α wρ(δ − xᵀφ)φ (step 14 of Algorithm 2)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac import compatible
from offnac.networks import Parameters
from offnac.optimisers import Optimiser
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition


class IterativeState(NamedTuple):
    x: Parameters
    optimiser: Any


@settings
class Iterative:
    """F is singular, so the iterates keep whatever x₀ has in its null space: they reach
    F⁺g + (I−F⁺F)x₀ (errata row 4). Hence x₀ = 0, unless ``random_start`` asks for the published
    uniform(±1/√k)."""

    optimiser: Optimiser
    random_start: bool = static(default=False)

    def init(self, key: PRNGKeyArray, theta: Parameters) -> IterativeState:
        x = jnp.zeros_like(theta)
        if self.random_start:
            limit = theta.size**-0.5
            x = jax.random.uniform(key, theta.shape, theta.dtype, -limit, limit)
        return IterativeState(x, self.optimiser.init(x))

    def update(
        self,
        state: IterativeState,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
        clock: Clock,
    ) -> tuple[IterativeState, Parameters]:
        error = delta - compatible.advantage(policy, theta, batch, state.x)
        ascent = compatible.combine(policy, theta, batch, omega * error / delta.shape[0])
        optimiser, step = self.optimiser.update(state.optimiser, ascent, clock)
        x = state.x + step
        return IterativeState(x, optimiser), x
