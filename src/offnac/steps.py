"""Actor steps: how far does θ move along x?"""

from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac import compatible
from offnac.networks import Parameters
from offnac.optimisers import Optimiser
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock, Schedule
from offnac.settings import settings
from offnac.transition import Transition


class ActorStep(Protocol):
    def init(self, theta: Parameters) -> Any: ...
    def update(
        self,
        state: Any,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        x: Parameters,
        clock: Clock,
    ) -> tuple[Any, Parameters]: ...


@settings
class Free:
    """θ ← θ + βx, or Adam's rescaling of it."""

    optimiser: Optimiser

    def init(self, theta: Parameters) -> Any:
        return self.optimiser.init(theta)

    def update(
        self,
        state: Any,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        x: Parameters,
        clock: Clock,
    ) -> tuple[Any, Parameters]:
        state, step = self.optimiser.update(state, x, clock)
        return state, theta + step


@settings
class TrustRegion:
    """θ ← θ + min(β, √(2ε/xᵀFx)) x: no step changes π by a KL divergence of more than ε."""

    rate: Schedule
    kl: Schedule

    def init(self, theta: Parameters) -> tuple[()]:
        return ()

    def update(
        self,
        state: tuple[()],
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        x: Parameters,
        clock: Clock,
    ) -> tuple[tuple[()], Parameters]:
        curvature = compatible.curvature(policy, theta, batch, omega, x)
        radius = jnp.sqrt(2.0 * self.kl(clock) / jnp.maximum(curvature, jnp.finfo(curvature.dtype).tiny))
        return state, theta + jnp.minimum(self.rate(clock), radius) * x


class Trail(NamedTuple):
    step: Any
    mean: Parameters


@settings
class Averaged:
    """Another step, and beside θ the mean of where it has been, θ̄ ← θ̄ + (1 − m)(θ − θ̄). Steps of one size
    never come to rest, but their mean does (Polyak and Juditsky 1992): it is θ̄ that has been learned."""

    step: ActorStep
    memory: float

    def init(self, theta: Parameters) -> Trail:
        return Trail(self.step.init(theta), theta)

    def update(
        self,
        state: Trail,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        x: Parameters,
        clock: Clock,
    ) -> tuple[Trail, Parameters]:
        step, theta = self.step.update(state.step, policy, theta, batch, omega, x, clock)
        return Trail(step, state.mean + (1.0 - self.memory) * (theta - state.mean)), theta
