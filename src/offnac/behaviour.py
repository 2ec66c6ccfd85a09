"""Behaviours μ: whoever takes the actions in a simulator, with the probabilities they are taken by.

A behaviour is a pytree that maps (s, key) to a ~ μ(·|s) and μ(a|s), so a jitted
rollout takes it as an argument.
"""

from typing import Protocol

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


@settings
class Uniform:
    """The paper's μ: every action with equal probability."""

    actions: int = static()

    def __call__(self, observation: Observation, key: PRNGKeyArray) -> Choice:
        return jax.random.randint(key, (), 0, self.actions), jnp.float32(1.0 / self.actions)


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
        observation = self.normalised(observation)
        if self.epsilon is None:
            action, prob = self.policy.sample(self.theta, observation[None], key)
            return action[0], prob[0]
        pi = jnp.exp(self.policy.log_probabilities(self.theta, observation[None])[0])
        mu = (1.0 - self.epsilon) * pi + self.epsilon / pi.size
        action = jax.random.categorical(key, jnp.log(mu))
        return action, mu[action]

    def normalised(self, observation: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        if self.mean is None or self.scale is None:
            return observation
        return (observation - self.mean) / self.scale
