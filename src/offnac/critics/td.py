"""TD(0): ψ ← ψ + α ŵ ρ δ ∇V(s), step 12 of Algorithm 2 (step 10 of Algorithm 1 where ŵρ = 1)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.networks import Network, Parameters, evaluate, initialise
from offnac.optimisers import Optimiser
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition


class ValueState(NamedTuple):
    psi: Parameters
    optimiser: Any
    target: Parameters | None
    """ψ of the slow target network, where there is one."""
    rewards: Float[Array, " 2"]
    """The smallest and the largest reward seen."""


@settings
class TD:
    """``target_rate`` τ < 1 bootstraps from a slow copy of V; ``bounded`` clips the target to what
    rewards like those seen so far allow, the remedy for off-policy divergence. With a ``unit``, V is
    unit · network, so that learning does not depend on the currency of the rewards."""

    network: Network = static()
    optimiser: Optimiser
    target_rate: float | None = None
    bounded: bool = static(default=False)
    unit: float | None = None

    def init(self, key: PRNGKeyArray) -> ValueState:
        psi = initialise(self.network, key)
        target = None if self.target_rate is None else psi
        return ValueState(psi, self.optimiser.init(psi), target, jnp.array([jnp.inf, -jnp.inf], psi.dtype))

    def value(self, psi: Parameters, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
        value = evaluate(self.network, psi, observation)[:, 0]
        return value if self.unit is None else self.unit * value

    def target(self, state: ValueState, batch: Transition, gamma: float) -> Float[Array, " n"]:
        """r + γ c V(s′), within what the rewards allow."""
        psi = state.psi if state.target is None else state.target
        target = batch.reward + gamma * batch.continues * self.value(psi, batch.next_observation)
        if self.bounded:
            low, high = reward_bounds(state.rewards, gamma)
            target = jnp.clip(target, low, high)
        return target

    def delta(self, state: ValueState, batch: Transition, gamma: float) -> Float[Array, " n"]:
        """δ = r + γ c V(s′) − V(s), the sample of A(s,a)."""
        return self.target(state, batch, gamma) - self.value(state.psi, batch.observation)

    def update(
        self,
        state: ValueState,
        batch: Transition,
        w_hat: Float[Array, " n"],
        rho: Float[Array, " n"],
        gamma: float,
        clock: Clock,
    ) -> ValueState:
        state = self.observe(state, batch)
        value, pull_back = jax.vjp(lambda psi: self.value(psi, batch.observation), state.psi)
        delta = self.target(state, batch, gamma) - value
        (ascent,) = pull_back(w_hat * rho * delta / delta.shape[0])
        return self.move(state, ascent, clock)

    def observe(self, state: ValueState, batch: Transition) -> ValueState:
        """Widen the range of the rewards seen."""
        if not self.bounded:
            return state
        low, high = jnp.min(batch.reward), jnp.max(batch.reward)
        widened = jnp.array([jnp.minimum(state.rewards[0], low), jnp.maximum(state.rewards[1], high)])
        return state._replace(rewards=widened)

    def move(self, state: ValueState, ascent: Parameters, clock: Clock) -> ValueState:
        """Step ψ along the ascent direction, and the target after it."""
        optimiser, step = self.optimiser.update(state.optimiser, ascent, clock)
        psi = state.psi + step
        target = state.target
        if target is not None and self.target_rate is not None:
            target = target + self.target_rate * (psi - target)
        return state._replace(psi=psi, optimiser=optimiser, target=target)


def reward_bounds(rewards: Float[Array, " 2"], gamma: float) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The least and the greatest discounted sum that rewards within a range can make: a task may end
    at once (r) or never (r/(1−γ))."""
    low, high = rewards
    return jnp.minimum(low, low / (1.0 - gamma)), jnp.maximum(high, high / (1.0 - gamma))
