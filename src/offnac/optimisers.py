"""How far a parameter vector moves along a direction: plain steps and Adam.

Both *ascend*: they return what to add. Used for ψ, x, w and, in the paper's and
the published settings, for θ.
"""

from typing import Any, Protocol

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from offnac.schedules import Clock, Schedule
from offnac.settings import settings

Vector = Float[Array, " k"]


class Optimiser(Protocol):
    def init(self, parameters: Vector) -> Any: ...
    def update(self, state: Any, direction: Vector, clock: Clock) -> tuple[Any, Vector]: ...


@settings
class SGD:
    """rate · direction: what the paper's Algorithms write."""

    rate: Schedule

    def init(self, parameters: Vector) -> tuple[()]:
        return ()

    def update(self, state: tuple[()], direction: Vector, clock: Clock) -> tuple[tuple[()], Vector]:
        return state, self.rate(clock) * direction


@settings
class Adam:
    """Adam's rescaling of the direction: what the published experiments used (errata row 8)."""

    rate: Schedule
    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8

    def init(self, parameters: Vector) -> optax.OptState:
        return optax.scale_by_adam().init(parameters)

    def update(self, state: optax.OptState, direction: Vector, clock: Clock) -> tuple[optax.OptState, Vector]:
        rescaled, state = optax.scale_by_adam(self.b1, self.b2, self.eps).update(direction, state)
        return state, jnp.asarray(self.rate(clock), direction.dtype) * rescaled
