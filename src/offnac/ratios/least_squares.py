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
        return LeastSquaresState(self.features.init(key, spec), self.features.one(spec), jnp.ones(()))

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
        a, loss = solve(A, b, Phi, p @ phi, self.ridge, eta)

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
    phi_mean: Float[Array, " k"],
    ridge: Float[Array, ""] | float,
    eta: Float[Array, ""] | float,
) -> tuple[Float[Array, " k"], Float[Array, ""]]:
    """a of (AΦ⁻¹Aᵀ + ηϕ̄ϕ̄ᵀ + λΦ)a = AΦ⁻¹b + (η + λ)ϕ̄, and its ‖b − Aᵀa‖² in the metric Φ⁻¹.

    In coordinates that make Φ the identity it is one least-squares problem; a QR
    of its rows never squares their condition number, which float32 would not survive.
    """
    eps = jnp.finfo(A.dtype).eps
    values, vectors = jnp.linalg.eigh((Phi + Phi.T) / 2.0)
    floor = len(values) * eps * jnp.maximum(values[-1], eps)
    whiten = vectors / jnp.sqrt(jnp.maximum(values, 0.0) + floor)
    A, b, phi_mean = whiten.T @ A @ whiten, whiten.T @ b, whiten.T @ phi_mean

    eta = jnp.asarray(eta, A.dtype)
    shrink = jnp.sqrt(ridge + eps * (1.0 + (A**2).sum()))  # never singular, whatever the ridge
    rows = jnp.concatenate([A.T, jnp.sqrt(eta) * phi_mean[None], shrink * jnp.eye(len(b), dtype=A.dtype)])
    targets = jnp.concatenate([b, jnp.sqrt(eta)[None], shrink * phi_mean])
    Q, R = jnp.linalg.qr(rows)
    alpha = solve_triangular(R, Q.T @ targets)
    return whiten @ alpha, ((b - A.T @ alpha) ** 2).sum()
