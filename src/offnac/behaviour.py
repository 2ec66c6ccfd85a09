"""Behaviours μ: whoever takes the actions in a simulator, with the probabilities they are taken by.

A behaviour is a pytree that maps (s, key) to a ~ μ(·|s) and μ(a|s), so a jitted
rollout takes it as an argument. What is random about its choice it can draw
before it sees the state: for many steps at once, which costs little more than for one.
"""

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.settings import settings, static

Observation = Float[Array, " d"]
Choice = tuple[Int[Array, ""], Float[Array, ""]]
"""a and μ(a|s)."""


class Behaviour(Protocol):
    def __call__(self, observation: Observation, key: PRNGKeyArray) -> Choice: ...
    def draw(self, key: PRNGKeyArray, actions: int) -> Any:
        """The chance in a choice among so many actions."""

    def choose(self, observation: Observation, drawn: Any) -> Choice: ...


@settings
class Uniform:
    """The paper's μ: every action with equal probability."""

    actions: int = static()

    def __call__(self, observation: Observation, key: PRNGKeyArray) -> Choice:
        return self.choose(observation, self.draw(key, self.actions))

    def draw(self, key: PRNGKeyArray, actions: int) -> Int[Array, ""]:
        return jax.random.randint(key, (), 0, self.actions)

    def choose(self, observation: Observation, drawn: Int[Array, ""]) -> Choice:
        return drawn, jnp.float32(1.0 / self.actions)


@settings
class Acting:
    """π_θ itself; with ``epsilon`` given, mixed with that share of uniform actions. Observations
    enter as (s − mean)/scale where these are given."""

    policy: SoftmaxPolicy
    theta: Parameters
    mean: Observation | None = None
    scale: Observation | None = None
    epsilon: float | None = None

    def __call__(self, observation: Observation, key: PRNGKeyArray) -> Choice:
        log_pi = jax.eval_shape(self.policy.log_probabilities, self.theta, observation[None])
        return self.choose(observation, self.draw(key, log_pi.shape[-1]))

    def draw(self, key: PRNGKeyArray, actions: int) -> Float[Array, " a"]:
        """Gumbel's noise g: argmax(log μ + g) is a draw of μ."""
        return jax.random.gumbel(key, (actions,), self.theta.dtype)

    def choose(self, observation: Observation, drawn: Float[Array, " a"]) -> Choice:
        observation = self.normalised(observation)
        log_pi = self.policy.log_probabilities(self.theta, observation[None])
        if self.epsilon is None:
            action = jnp.argmax(drawn + log_pi, axis=-1)
            return action[0], jnp.exp(self.policy.log_prob(self.theta, observation[None], action))[0]
        mu = (1.0 - self.epsilon) * jnp.exp(log_pi[0]) + self.epsilon / log_pi.size
        action = jnp.argmax(drawn + jnp.log(mu))
        return action, mu[action]

    def normalised(self, observation: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        if self.mean is None or self.scale is None:
            return observation
        return (observation - self.mean) / self.scale
