"""Two timescales by repetition: a critic takes several steps, each over a piece of the batch, before
the actor takes one."""

from typing import Any

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.networks import Parameters
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition


@settings
class Minibatches:
    critic: Any
    count: int = static(default=10)
    """Pieces that a batch is cut into, in order; it must divide the batch's rows."""

    def init(self, key: PRNGKeyArray) -> Any:
        return self.critic.init(key)

    def value(self, psi: Parameters, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
        return self.critic.value(psi, observation)

    def delta(self, state: Any, batch: Transition, gamma: float) -> Float[Array, " n"]:
        return self.critic.delta(state, batch, gamma)

    def update(
        self,
        state: Any,
        batch: Transition,
        w_hat: Float[Array, " n"],
        rho: Float[Array, " n"],
        gamma: float,
        clock: Clock,
    ) -> Any:
        def piece(state: Any, rows: tuple[Transition, Array, Array]) -> tuple[Any, None]:
            return self.critic.update(state, *rows, gamma, clock), None

        pieces = jax.tree.map(lambda leaf: leaf.reshape(self.count, -1, *leaf.shape[1:]), (batch, w_hat, rho))
        return jax.lax.scan(piece, state, pieces)[0]
