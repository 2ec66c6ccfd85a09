"""Features ϕ in which a ratio is linear: w(s) = ϕ(s)ᵀa."""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.ratios.data import RatioData
from offnac.ratios.scaling import Scaling, median_distance, standardise
from offnac.settings import settings, static
from offnac.transition import Spec


class Features(Protocol):
    """``fit`` looks at the data once, ``one`` are the coefficients of the function 1."""

    def init(self, key: PRNGKeyArray, spec: Spec) -> Any: ...
    def fit(self, state: Any, data: RatioData) -> Any: ...
    def one(self, observation_size: int) -> Float[Array, " k"]: ...
    def __call__(self, state: Any, observations: Float[Array, "n d"]) -> Float[Array, "n k"]: ...


class FourierState(NamedTuple):
    frequency: Float[Array, "d k"]
    phase: Float[Array, " k"]
    scaling: Scaling
    length: Float[Array, ""]


@settings
class Fourier:
    """Random Fourier features of an RBF kernel whose length is the median distance of standardised
    states, and a constant."""

    count: int = static(default=128)

    def init(self, key: PRNGKeyArray, spec: Spec) -> FourierState:
        key_frequency, key_phase = jax.random.split(key)
        size = spec.observation_size
        return FourierState(
            jax.random.normal(key_frequency, (size, self.count)),
            jax.random.uniform(key_phase, (self.count,), maxval=2.0 * jnp.pi),
            Scaling(jnp.zeros(size), jnp.ones(size)),
            jnp.ones(()),
        )

    def fit(self, state: FourierState, data: RatioData) -> FourierState:
        scaling = standardise(data.batch.observation, data.weight)
        length = median_distance(scaling(data.batch.observation), data.weight)
        return state._replace(scaling=scaling, length=length)

    def one(self, observation_size: int) -> Float[Array, " k"]:
        return jnp.zeros(self.count + 1).at[-1].set(1.0)

    def __call__(self, state: FourierState, observations: Float[Array, "n d"]) -> Float[Array, "n k"]:
        angle = state.scaling(observations) @ state.frequency / state.length + state.phase
        waves = jnp.sqrt(2.0 / self.count) * jnp.cos(angle)
        return jnp.concatenate([waves, jnp.ones_like(waves[:, :1])], axis=1)


@settings
class Identity:
    """The observation itself, where it is a partition of unity: one-hot states."""

    def init(self, key: PRNGKeyArray, spec: Spec) -> tuple[()]:
        return ()

    def fit(self, state: tuple[()], data: RatioData) -> tuple[()]:
        return state

    def one(self, observation_size: int) -> Float[Array, " k"]:
        return jnp.ones(observation_size)

    def __call__(self, state: tuple[()], observations: Float[Array, "n d"]) -> Float[Array, "n k"]:
        return observations
