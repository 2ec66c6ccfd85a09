"""The natural gradient x by weighted ridge regression of δ on φ (eq. 10 over a batch).

x = argmin Σ ωᵢ/n (δᵢ − xᵀφᵢ)² + λ‖x‖², λ relative to the mean eigenvalue of F.
One answer, three roads: the n×n system of the samples, the k×k system of the
parameters, or conjugate gradients that never build a matrix.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac import compatible
from offnac.errors import UserError
from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Transition

SOLVERS = ("auto", "sample", "parameter", "conjugate")
MATRIX_LIMIT = 4096
"""Beyond this many unknowns both dense systems lose to conjugate gradients."""


class RidgeState(NamedTuple):
    x: Parameters
    """The average of past solutions."""
    updates: Float[Array, ""]


@settings
class Ridge:
    """``ridge``: λ·k/tr F. ``memory``: weight of past solutions in the averaged x."""

    ridge: float = 0.1
    memory: float = 0.0
    solver: str = static(default="auto")
    iterations: int = static(default=50)
    """Conjugate-gradient steps at most."""
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise UserError(f"a ridge solver is one of {', '.join(SOLVERS)}, but {self.solver!r} came")

    def init(self, key: PRNGKeyArray, theta: Parameters) -> RidgeState:
        return RidgeState(jnp.zeros_like(theta), jnp.zeros((), theta.dtype))

    def update(
        self,
        state: RidgeState,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
        clock: Clock,
    ) -> tuple[RidgeState, Parameters]:
        x = self.solve(policy, theta, batch, omega, delta)
        average = self.memory * state.x + (1.0 - self.memory) * x
        updates = state.updates + 1.0
        # Adam's correction for the start at 0, so that memory delays nothing.
        return RidgeState(average, updates), average / (1.0 - self.memory**updates)

    def solve(
        self,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
    ) -> Parameters:
        n, k = delta.shape[0], theta.shape[0]
        solver = self.solver
        if solver == "auto":
            solver = "conjugate" if min(n, k) > MATRIX_LIMIT else "sample" if n <= k else "parameter"
        if solver == "conjugate":
            return self._conjugate(policy, theta, batch, omega, delta)
        scale = jnp.sqrt(omega / n)
        rows = scale[:, None] * compatible.features(policy, theta, batch)
        targets = scale * delta
        damping = self.damping(jnp.sum(rows**2), k)
        if solver == "sample":
            gram = rows @ rows.T + damping * jnp.eye(n, dtype=rows.dtype)
            return rows.T @ jax.scipy.linalg.solve(gram, targets, assume_a="pos")
        fisher = rows.T @ rows + damping * jnp.eye(k, dtype=rows.dtype)
        return jax.scipy.linalg.solve(fisher, rows.T @ targets, assume_a="pos")

    def damping(self, trace: Float[Array, ""], k: int) -> Float[Array, ""]:
        """λ; the floor keeps a saturated policy (φ = 0) solvable: x = 0."""
        return self.ridge * trace / k + jnp.finfo(trace.dtype).tiny ** 0.5

    def _conjugate(
        self,
        policy: SoftmaxPolicy,
        theta: Parameters,
        batch: Transition,
        omega: Float[Array, " n"],
        delta: Float[Array, " n"],
    ) -> Parameters:
        n, k = delta.shape[0], theta.shape[0]

        def squared_norm(row: tuple[Array, Array, Array]) -> Float[Array, ""]:
            observation, action, weight = row
            phi = compatible.feature(policy, theta, observation, action)
            return weight * jnp.vdot(phi, phi)

        rows = (batch.observation, batch.action, omega)
        trace = jnp.mean(jax.lax.map(squared_norm, rows, batch_size=64))
        damping = self.damping(trace, k)
        gradient = compatible.combine(policy, theta, batch, omega * delta / n)
        # In units of F's mean eigenvalue and of g: else pᵀFp underflows where the policy saturates, 0/0.
        tiny = jnp.finfo(trace.dtype).tiny
        eigenvalue, length = trace / k + tiny**0.5, jnp.max(jnp.abs(gradient)) + tiny
        x = jax.scipy.sparse.linalg.cg(
            lambda v: (compatible.fisher_product(policy, theta, batch, omega, v) + damping * v) / eigenvalue,
            gradient / length,
            tol=self.tolerance,
            maxiter=self.iterations,
        )[0]
        return x * (length / eigenvalue)
