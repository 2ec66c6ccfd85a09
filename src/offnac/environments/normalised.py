"""A task whose observations are shown as (s − mean)/scale."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.environments.environment import Environment, Observation, Step
from offnac.settings import settings
from offnac.transition import Spec


@settings
class Normalised:
    environment: Environment
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def spec(self) -> Spec:
        return self.environment.spec

    @property
    def max_steps(self) -> int | Int[Array, ""]:
        return self.environment.max_steps

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Observation]:
        state, observation = self.environment.reset(key)
        return state, self._show(observation)

    def step(self, state: Any, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        state, observation, reward, terminated, truncated = self.environment.step(state, action, key)
        return state, self._show(observation), reward, terminated, truncated

    def _show(self, observation: Float[Array, " d"]) -> Observation:
        return (observation - jnp.asarray(self.mean)) / jnp.asarray(self.scale)
