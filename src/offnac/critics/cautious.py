"""TD that promises nothing where the data is thin: the remedy for over-estimates far from a log's support.

Beside the rows of a batch the critic looks at made-up states: each coordinate taken from another row, and
stretched. What V promises there is held down to 0, as if the record ended; a loss it may believe. Where rows
are common they prevail, and far away V cannot soar.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.critics.td import TD, ValueState
from offnac.networks import Parameters
from offnac.schedules import Clock
from offnac.settings import settings
from offnac.transition import Transition


@settings
class Cautious:
    """``weight``: of the made-up states against the rows, of which there are four times as many. ``reach``:
    how far they are stretched from the centre 0, so observations must be standardised."""

    td: TD
    weight: float = 0.1
    reach: float = 2.0

    def init(self, key: PRNGKeyArray) -> ValueState:
        return self.td.init(key)

    def value(self, psi: Parameters, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
        return self.td.value(psi, observation)

    def delta(self, state: ValueState, batch: Transition, gamma: float) -> Float[Array, " n"]:
        return self.td.delta(state, batch, gamma)

    def update(
        self,
        state: ValueState,
        batch: Transition,
        w_hat: Float[Array, " n"],
        rho: Float[Array, " n"],
        gamma: float,
        clock: Clock,
    ) -> ValueState:
        state = self.td.observe(state, batch)
        n = len(batch.observation)
        made_up = self.reach * mixed(batch.observation)[: max(1, n // 4)]
        states = jnp.concatenate([batch.observation, made_up])
        value, pull_back = jax.vjp(lambda psi: self.td.value(psi, states), state.psi)
        known = w_hat * rho * (self.td.target(state, batch, gamma) - value[:n]) / n
        unknown = -self.weight * jnp.maximum(value[n:], 0.0) / len(made_up)
        (ascent,) = pull_back(jnp.concatenate([known, unknown]))
        return self.td.move(state, ascent, clock)


def mixed(observation: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """States whose coordinates come from different rows; the rows of a batch are in no order."""
    n, d = observation.shape
    return jnp.stack([jnp.roll(observation[:, i], (i * n) // d) for i in range(d)], axis=1)
