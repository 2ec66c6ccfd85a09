"""The composition: one update that reads as Algorithm 2 of the paper.

| algorithm   | ratios          | direction |
|-------------|-----------------|-----------|
| Deep AC     | none            | vanilla   |
| Deep NAC    | none            | natural   |
| Deep OffAC  | ŵ and w         | vanilla   |
| Deep OffNAC | ŵ and w         | natural   |

On-policy data is not a special case: μ = π makes every weight exactly 1.
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.ratios import RatioData, Ratios
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.steps import ActorStep, Trail
from offnac.transition import Spec, Transition


class Critic(Protocol):
    def init(self, key: PRNGKeyArray) -> Any: ...
    def value(self, psi: Parameters, observation: Float[Array, "n d"]) -> Float[Array, " n"]: ...
    def delta(self, state: Any, batch: Transition, gamma: float) -> Float[Array, " n"]: ...
    def update(
        self,
        state: Any,
        batch: Transition,
        w_hat: Float[Array, " n"],
        rho: Float[Array, " n"],
        gamma: float,
        clock: Clock,
    ) -> Any: ...


class Direction(Protocol):
    def init(self, key: PRNGKeyArray, theta: Parameters) -> Any: ...
    def update(
        self,
        state: Any,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
        clock: Clock,
    ) -> tuple[Any, Parameters]: ...


class State(NamedTuple):
    theta: Parameters
    ratios: Any
    value: Any
    direction: Any
    step: Any
    clock: Clock

    @property
    def learned(self) -> Parameters:
        """The policy that has been learned: θ, or the mean of its path where that is kept."""
        mean: Parameters = self.step.mean if isinstance(self.step, Trail) else self.theta
        return mean


class UpdateInfo(NamedTuple):
    """What one update saw; what nobody reads is never computed."""

    rho: Float[Array, " n"]
    w_hat: Float[Array, " n"]
    w: Float[Array, " n"]
    delta: Float[Array, " n"]
    x: Parameters


@settings
class ActorCritic:
    policy: SoftmaxPolicy
    ratios: Ratios
    critic: Critic
    direction: Direction
    step: ActorStep
    gamma: float = 0.99
    entropy: float | None = None
    """τ: the actor ascends δ − τ log π(a|s), so that where nothing is to be learned π stays wide instead
    of following noise. The critics keep to the task's own rewards."""
    favour: tuple[float, ...] | None = None
    """What the actor adds to δ for each action: where the critic cannot tell one from another, π follows this
    instead of noise. The critics keep to the task's own rewards here too."""

    def init(self, key: PRNGKeyArray, spec: Spec) -> State:
        theta_key, ratios_key, value_key, direction_key = jax.random.split(key, 4)
        theta = self.policy.init(theta_key)
        return State(
            theta=theta,
            ratios=self.ratios.init(ratios_key, spec),
            value=self.critic.init(value_key),
            direction=self.direction.init(direction_key, theta),
            step=self.step.init(theta),
            clock=Clock.start(),
        )

    def estimate_ratios(
        self,
        state: State,
        batch: Transition,
        initial: Float[Array, "m d"],
        weight: Float[Array, " n"],
        key: PRNGKeyArray,
    ) -> tuple[State, Any]:
        """Step 8 of Algorithm 2: re-estimate ŵ_θ and w_θ from data of μ."""
        rho = self.policy.probability_ratio(state.theta, batch)
        data = RatioData(batch, rho, initial, weight)
        ratios, info = self.ratios.update(state.ratios, data, self.gamma, key, state.clock)
        return state._replace(ratios=ratios), info

    def update(self, state: State, batch: Transition) -> tuple[State, UpdateInfo]:
        """Steps 11 to 16 of Algorithm 2 over a batch; a stream is a batch of one."""
        theta, clock = state.theta, state.clock
        rho = self.policy.probability_ratio(theta, batch)
        w_hat, w = self.ratios.weights(state.ratios, batch.observation)
        value = self.critic.update(state.value, batch, w_hat, rho, self.gamma, clock)
        delta = self.critic.delta(value, batch, self.gamma)
        if self.entropy is not None:
            delta = delta - self.entropy * self.policy.log_prob(theta, batch.observation, batch.action)
        if self.favour is not None:
            delta = delta + jnp.asarray(self.favour, delta.dtype)[batch.action]
        direction, x = self.direction.update(
            state.direction, self.policy, theta, batch, w * rho, delta, clock
        )
        step, theta = self.step.update(state.step, self.policy, theta, batch, w * rho, x, clock)
        clock = clock._replace(step=clock.step + 1)
        state = State(theta, state.ratios, value, direction, step, clock)
        return state, UpdateInfo(rho, w_hat, w, delta, x)
