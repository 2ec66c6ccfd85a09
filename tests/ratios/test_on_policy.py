"""Property 9, the ratios: π = μ and its own data make every ratio 1."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.ratios import Fourier, Identity, Kernel, LeastSquares, One, Ratios
from offnac.ratios.forms import direct, stationary
from offnac.ratios.links import restart
from offnac.ratios.measures import squared_norm
from offnac.ratios.rbf import Fixed
from offnac.schedules import Clock


def on_policy(finite, D):
    return finite.data(D, pi=finite.mu)


def test_one_is_exactly_one(finite, anywhere, update):
    pair = Ratios(One(), One())
    state = pair.init(jax.random.key(0), finite.mdp.spec)
    state, info = update(pair, state, finite.data(anywhere), finite.gamma, jax.random.key(1))
    assert all((w == 1).all() for w in pair.weights(state, finite.states))
    assert info["w"].mean == pytest.approx(1.0)


@pytest.mark.parametrize("features", [Identity(), Fourier(32)])
@pytest.mark.parametrize("form", ["direct", "stationary"])
def test_least_squares(finite, update, form, features):
    D = finite.discounted(finite.mu) if form == "direct" else finite.stationary(finite.mu)
    estimator = LeastSquares(form, features, ridge=0.0)
    state = estimator.init(jax.random.key(0), finite.mdp.spec)
    assert (estimator.ratio(state, finite.states) == 1).all()
    state, info = update(estimator, state, on_policy(finite, D), finite.gamma, jax.random.key(1))
    np.testing.assert_allclose(estimator.ratio(state, finite.states), 1.0, atol=1e-6)
    assert info.effective_sample_size == pytest.approx(1.0)


def test_kernel_losses_vanish_at_one(finite):
    kernel, one = Fixed(1.0).kernel(None), lambda observations: jnp.ones(len(observations))
    data = on_policy(finite, finite.stationary(finite.mu))
    assert squared_norm(stationary(one, data, restart(data, jax.random.key(0))), kernel, False) < 1e-20
    data = on_policy(finite, finite.discounted(finite.mu))
    links = restart(data, jax.random.key(0))
    assert squared_norm(direct(one, data, links, finite.gamma), kernel, False) < 1e-20


def test_kernel_finds_it(terminating):
    estimator = Kernel("stationary", hidden=(), lengthscale=Fixed(0.5), unbiased=False)
    data = on_policy(terminating, terminating.stationary(terminating.mu))

    @jax.jit
    def run(state):
        def step(state, key):
            return estimator.update(state, data, terminating.gamma, key, Clock.start())[0], None

        return jax.lax.scan(step, state, jax.random.split(jax.random.key(1), 3000))[0]

    state = run(estimator.init(jax.random.key(0), terminating.mdp.spec))
    np.testing.assert_allclose(estimator.ratio(state, terminating.states), 1.0, atol=0.02)
