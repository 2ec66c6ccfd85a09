"""The two ratios that Algorithm 2 holds: ŵ for the value critic, w for the advantage critic and the actor."""

from typing import Any, NamedTuple, Protocol

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.ratios.data import RatioData
from offnac.ratios.info import RatioInfo
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.transition import Spec


class Estimator(Protocol):
    """A ratio w(s), normalised and bounded, learned from :class:`RatioData`."""

    def init(self, key: PRNGKeyArray, spec: Spec) -> Any: ...
    def update(
        self, state: Any, data: RatioData, gamma: float, key: PRNGKeyArray, clock: Clock
    ) -> tuple[Any, RatioInfo]: ...
    def ratio(self, state: Any, observations: Float[Array, "n d"]) -> Float[Array, " n"]: ...


class RatiosState(NamedTuple):
    w_hat: Any
    w: Any


@settings
class Ratios:
    w_hat: Estimator
    """d_π/d_μ, stationary."""
    w: Estimator
    """d̃_π/d̃_μ, discounted."""

    def init(self, key: PRNGKeyArray, spec: Spec) -> RatiosState:
        key_w_hat, key_w = jax.random.split(key)
        return RatiosState(self.w_hat.init(key_w_hat, spec), self.w.init(key_w, spec))

    def update(
        self, state: RatiosState, data: RatioData, gamma: float, key: PRNGKeyArray, clock: Clock
    ) -> tuple[RatiosState, dict[str, RatioInfo]]:
        key_w_hat, key_w = jax.random.split(key)
        w_hat, w_hat_info = self.w_hat.update(state.w_hat, data, gamma, key_w_hat, clock)
        w, w_info = self.w.update(state.w, data, gamma, key_w, clock)
        return RatiosState(w_hat, w), {"w_hat": w_hat_info, "w": w_info}

    def weights(
        self, state: RatiosState, observations: Float[Array, "n d"]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        return self.w_hat.ratio(state.w_hat, observations), self.w.ratio(state.w, observations)
