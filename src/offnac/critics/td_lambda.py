"""TD(λ) with eligibility traces (Algorithms 3 and 4), off-policy corrected.

The trace that keeps the on-policy fixed point is z ← ρ(γλz + ŵ∇V(s)), with
ψ ← ψ + αδz (errata row 6). The printed one, z ← γλz + ∇V(s) with
ψ ← ψ + αŵρδz, does not; it is kept by name for the paper's own experiments.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.critics.td import TD, ValueState
from offnac.networks import Parameters
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition


class TraceState(NamedTuple):
    td: ValueState
    z: Parameters
    """The eligibility trace."""

    @property
    def psi(self) -> Parameters:
        return self.td.psi


@settings
class TDLambda:
    """Rows of a batch are consecutive steps of one stream; a row with step 0 starts a new trace.
    ``clip`` bounds the ρ inside the trace by 1, so that products of ρ cannot explode."""

    td: TD
    lam: float
    trace: str = static(default="corrected")
    clip: bool = static(default=False)

    def init(self, key: PRNGKeyArray) -> TraceState:
        td = self.td.init(key)
        return TraceState(td, jnp.zeros_like(td.psi))

    def value(self, psi: Parameters, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
        return self.td.value(psi, observation)

    def delta(self, state: TraceState, batch: Transition, gamma: float) -> Float[Array, " n"]:
        return self.td.delta(state.td, batch, gamma)

    def update(
        self,
        state: TraceState,
        batch: Transition,
        w_hat: Float[Array, " n"],
        rho: Float[Array, " n"],
        gamma: float,
        clock: Clock,
    ) -> TraceState:
        td = self.td.observe(state.td, batch)
        delta = self.td.delta(td, batch, gamma)

        def trace(
            z: Parameters, row: tuple[Array, Array, Array, Array, Array]
        ) -> tuple[Parameters, Parameters]:
            observation, step, w_hat, rho, delta = row
            gradient = jax.grad(lambda psi: self.td.value(psi, observation[None])[0])(td.psi)
            z = jnp.where(step == 0, 0.0, gamma * self.lam * z)
            if self.trace == "printed":
                z = z + gradient
                return z, w_hat * rho * delta * z
            z = (jnp.minimum(rho, 1.0) if self.clip else rho) * (z + w_hat * gradient)
            return z, delta * z

        rows = (batch.observation, batch.step, w_hat, rho, delta)
        if delta.shape[0] == 1:
            z, ascent = trace(state.z, jax.tree.map(lambda leaf: leaf[0], rows))
        else:
            z, ascents = jax.lax.scan(trace, state.z, rows)
            ascent = jnp.mean(ascents, axis=0)
        return TraceState(self.td.move(td, ascent, clock), z)
