"""Property 8: every estimator's error falls with n, and vanishes with the exact expectation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.environments import exact
from offnac.optimisers import Adam
from offnac.ratios import Fixed, Fourier, Identity, Kernel, LeastSquares, RatioData
from offnac.schedules import Clock, Constant

TABLE = {"hidden": (), "optimiser": Adam(Constant(0.03)), "lengthscale": Fixed(0.5), "unbiased": False}
ESTIMATORS = {
    "kernel stationary": (Kernel("stationary", **TABLE), 800),
    "kernel discounted": (Kernel("discounted", **TABLE), 800),
    "kernel direct": (Kernel("direct", **TABLE), 800),
    "least squares direct": (LeastSquares("direct", Identity(), ridge=0.0), 1),
    "least squares stationary": (LeastSquares("stationary", Identity(), ridge=0.0), 1),
    "least squares direct, Fourier": (LeastSquares("direct", Fourier(32), ridge=0.0), 1),
}


def target(finite, estimator, anywhere):
    """The data's distribution, and the ratio against it."""
    if estimator.form == "direct":
        return anywhere, finite.discounted(finite.pi) / anywhere
    if estimator.form == "discounted":
        d_mu = finite.discounted(finite.mu)
        return d_mu, finite.discounted(finite.pi) / d_mu
    d_mu = finite.stationary(finite.mu)
    return d_mu, finite.stationary(finite.pi) / d_mu


@pytest.mark.parametrize("name", ESTIMATORS)
def test_error_falls_with_n(terminating, anywhere, name):
    estimator, updates = ESTIMATORS[name]
    D, w = target(terminating, estimator, anywhere)

    @jax.jit
    @jax.vmap
    def error(weight):
        data = terminating.data(D)._replace(weight=weight)

        def step(state, key):
            return estimator.update(state, data, terminating.gamma, key, Clock.start())[0], None

        state = estimator.init(jax.random.key(0), terminating.mdp.spec)
        state = jax.lax.scan(step, state, jax.random.split(jax.random.key(1), updates))[0]
        return terminating.error(D, estimator.ratio(state, terminating.states), w)

    few, many = ([terminating.sampled(D, n, seed).weight for seed in range(4)] for n in (300, 30_000))
    errors = np.asarray(error(jnp.stack([*few, *many, terminating.data(D).weight])))
    assert errors[4:8].mean() < 0.3 * errors[:4].mean()
    assert errors[8] < 1e-3 < terminating.error(D, jnp.ones_like(w), w)


def test_fresh_small_batches_want_the_u_statistic(terminating):
    """Own pairs bias D(w) by E‖ν‖²/n, which more batches do not cure."""
    D, w = target(terminating, Kernel("discounted"), None)

    def error(unbiased):
        kernel = Kernel("discounted", **{**TABLE, "optimiser": Adam(Constant(3e-3)), "unbiased": unbiased})

        def step(state, key):
            batch = exact.sample(key, terminating.mdp, D, terminating.mu, 16)
            rho = (terminating.pi / terminating.mu)[batch.observation.argmax(1), batch.action]
            data = RatioData(batch, rho, terminating.states[:1], jnp.ones(16))
            state = kernel.update(state, data, terminating.gamma, key, Clock.start())[0]
            return state, terminating.error(D, kernel.ratio(state, terminating.states), w)

        state = kernel.init(jax.random.key(0), terminating.mdp.spec)
        errors = jax.lax.scan(step, state, jax.random.split(jax.random.key(1), 3000))[1]
        return errors[-500:].mean()

    u, v = (jax.jit(error, static_argnums=0)(unbiased) for unbiased in (True, False))
    assert u < 0.7 * v < terminating.error(D, jnp.ones_like(w), w)


def test_off_policy_value_equals_lstd(finite, anywhere, update):
    """E_D[wρr] = (1−γ)d₀ᵀV of LSTD on the same sample: w by direct least squares is LSTD's dual."""
    data, gamma = finite.sampled(anywhere, 500, seed=0), finite.gamma
    estimator = LeastSquares("direct", Identity(), ridge=0.0)
    state, info = update(
        estimator, estimator.init(jax.random.key(0), finite.mdp.spec), data, gamma, jax.random.key(1)
    )
    batch, p = data.batch, data.weight / data.weight.sum()
    w = batch.observation @ state.coefficients
    phi, ahead = batch.observation, gamma * batch.continues[:, None] * batch.next_observation
    A = (p * data.rho)[:, None] * phi
    psi = jnp.linalg.solve((p[:, None] * phi).T @ phi - A.T @ ahead, A.T @ batch.reward)
    lstd = (1 - gamma) * (data.initial.mean(0) @ psi)
    np.testing.assert_allclose((p * w * data.rho) @ batch.reward, lstd, rtol=1e-9)

    # The normalised ratio carries its scale beside it.
    assert (w >= 0).all()
    normalised = estimator.ratio(state, batch.observation)
    np.testing.assert_allclose(info.mean * (p * normalised * data.rho) @ batch.reward, lstd, rtol=1e-9)
