"""The ratio in closed form on fixed features (errata, "Density ratios", 3).

L(w, ϕ) = b − Aᵀa for every feature as test function at once; a minimises
‖b − Aᵀa‖² in the metric Φ⁻¹ plus λE_D[(w − 1)²], which shrinks towards w = 1.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.errors import UserError
from offnac.ratios.data import RatioData, average, choose, normalised, present
from offnac.ratios.features import Features, Fourier
from offnac.ratios.info import RatioInfo, describe
from offnac.schedules import Clock
from offnac.settings import settings, static
from offnac.transition import Spec


class LeastSquaresState(NamedTuple):
    features: Any
    coefficients: Float[Array, " k"]
    mean: Float[Array, ""]
    """E_D[max(w, 0)], by which the ratio is divided."""


@settings
class LeastSquares:
    form: str = static(default="direct")
    """``direct`` for w = d̃_π/D, ``stationary`` for ŵ = d_π/D of the restart chain; both on any data D."""
    features: Features = Fourier()
    ridge: float = 1e-2
    """λ, in units of E_D[(w − 1)²]; suits one or two thousand rows, where more rows bear less."""
    eta: float = 1.0
    """η, the weight of E_D[w] = 1 in the stationary form."""
    bound: float = 100.0
    """No w above this."""

    def __post_init__(self) -> None:
        if self.form not in ("direct", "stationary"):
            raise UserError(f"a least-squares ratio's form is direct or stationary, but {self.form!r} came")

    def init(self, key: PRNGKeyArray, spec: Spec) -> LeastSquaresState:
        return LeastSquaresState(
            self.features.init(key, spec), self.features.one(spec.observation_size), jnp.ones(())
        )

    def update(
        self, state: LeastSquaresState, data: RatioData, gamma: float, key: PRNGKeyArray, clock: Clock
    ) -> tuple[LeastSquaresState, RatioInfo]:
        data = present(data)
        batch, p = data.batch, normalised(data.weight)
        features = self.features.fit(state.features, data)
        phi, next_phi, phi_0 = (
            self.features(features, s) for s in (batch.observation, batch.next_observation, data.initial)
        )
        c, start = batch.continues[:, None], phi_0.mean(0)
        if self.form == "direct":
            successor, b, eta = gamma * c * next_phi, (1.0 - gamma) * start, 0.0
        else:
            # γ = 1 on the restart chain: a terminated row leads to d₀, in expectation.
            successor, b, eta = c * next_phi + (1.0 - c) * start, jnp.zeros_like(start), self.eta
        A = (p[:, None] * phi).T @ (phi - data.rho[:, None] * successor)
        Phi = (p[:, None] * phi).T @ phi
        one = self.features.one(batch.observation.shape[-1])
        a, loss = solve(A, b, Phi, one, self.ridge, eta)

        mean = average(jnp.maximum(phi @ a, 0.0), data.weight)
        new = choose(mean > 0, LeastSquaresState(features, a, mean), state)
        info = describe(self.ratio(new, batch.observation), data.rho, data.weight, loss)
        return new, info._replace(mean=average(phi @ a, data.weight))

    def ratio(self, state: LeastSquaresState, observations: Float[Array, "n d"]) -> Float[Array, " n"]:
        w = self.features(state.features, observations) @ state.coefficients
        return jnp.clip(w / state.mean, 0.0, self.bound)


def solve(
    A: Float[Array, "k k"],
    b: Float[Array, " k"],
    Phi: Float[Array, "k k"],
    one: Float[Array, " k"],
    ridge: Float[Array, ""] | float,
    eta: Float[Array, ""] | float,
) -> tuple[Float[Array, " k"], Float[Array, ""]]:
    """a of (AΦ⁻¹Aᵀ + ηϕ̄ϕ̄ᵀ + λΦ)a = AΦ⁻¹b + (η + λ)ϕ̄, and its ‖b − Aᵀa‖² in the metric Φ⁻¹.

    Solved for how w departs from 1 (ϕ̄ = Φ·one), in coordinates that make Φ the
    identity: one least-squares problem, whose QR never squares the condition number,
    which float32 would not survive. Where the data says nothing of a direction, that
    is where Φ is 0 up to rounding, w stays 1.
    """
    eps, k = jnp.finfo(A.dtype).eps, len(b)
    values, vectors = jnp.linalg.eigh((Phi + Phi.T) / 2.0)
    # The cut is at rounding itself: float32 has many small directions that matter, which the floor tames.
    known, floor = values > 4 * eps * values[-1], k * eps * values[-1]
    whiten = jnp.where(known, vectors / jnp.sqrt(jnp.where(known, values + floor, 1.0)), 0.0)
    misfit, A, phi_mean = whiten.T @ (b - A.T @ one), whiten.T @ A @ whiten, whiten.T @ Phi @ one

    shrink = jnp.sqrt(ridge + eps * (1.0 + (A**2).sum()))  # never singular, whatever the ridge
    rows = jnp.concatenate([A.T, jnp.sqrt(eta) * phi_mean[None], shrink * jnp.eye(k, dtype=A.dtype)])
    Q, R = jnp.linalg.qr(rows)
    departure = solve_triangular(R, Q[:k].T @ misfit)
    return one + whiten @ departure, ((misfit - A.T @ departure) ** 2).sum()
