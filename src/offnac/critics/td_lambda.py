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
from offnac.errors import UserError
from offnac.networks import Parameters
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition

TRACES = ("corrected", "printed")


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
    ``clip`` bounds the ρ that the trace is carried on by, so that products of ρ cannot explode; the
    newest step keeps its ρ whole, and so λ = 0 stays TD(0)."""

    td: TD
    lam: float
    trace: str = static(default="corrected")
    clip: bool = static(default=False)

    def __post_init__(self) -> None:
        if self.trace not in TRACES:
            raise UserError(f"a trace is one of {', '.join(TRACES)}, but {self.trace!r} came")

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
        value, pull_back = jax.vjp(lambda psi: self.td.value(psi, batch.observation), td.psi)
        delta = self.td.target(td, batch, gamma) - value
        # e = decay·z + enter·∇V(s) is what a step adds to the trace; z ← keep·e, ψ moves along credit·e.
        decay = jnp.where(batch.step == 0, 0.0, gamma * self.lam)
        if self.trace == "printed":
            enter, keep, credit = jnp.ones_like(rho), jnp.ones_like(rho), w_hat * rho * delta
        else:
            enter, keep, credit = w_hat, jnp.minimum(rho, 1.0) if self.clip else rho, rho * delta
        if delta.shape[0] == 1:
            e = decay * state.z + pull_back(enter)[0]
            return TraceState(self.td.move(td, credit * e, clock), keep * e)
        # The same over many rows without a gradient for each: what every e still earns, and what is left
        # of it in the end, both counted backwards.
        carry = keep * jnp.append(decay[1:], 0.0)
        earned = _backwards(credit, carry)
        left = _backwards(jnp.zeros_like(keep).at[-1].set(keep[-1]), carry)
        ascent = pull_back(earned * enter)[0] + earned[0] * decay[0] * state.z
        z = pull_back(left * enter)[0] + left[0] * decay[0] * state.z
        return TraceState(self.td.move(td, ascent / delta.shape[0], clock), z)


def _backwards(own: Float[Array, " n"], carry: Float[Array, " n"]) -> Float[Array, " n"]:
    """q_t = own_t + carry_t q_{t+1}."""

    def joined(later: tuple[Array, Array], earlier: tuple[Array, Array]) -> tuple[Array, Array]:
        return earlier[0] * later[0], earlier[1] + earlier[0] * later[1]

    return jax.lax.associative_scan(joined, (carry, own), reverse=True)[1]
