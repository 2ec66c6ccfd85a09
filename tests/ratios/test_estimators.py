"""What holds of every estimator: it jits, batches, and survives rows that are not there."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.environments.tabular import gridworld
from offnac.errors import UserError
from offnac.optimisers import Adam
from offnac.ratios import Fourier, Kernel, LeastSquares, One, Ratios, published
from offnac.schedules import Constant

GAMMA = 0.9

ESTIMATORS = {
    "one": One(),
    "kernel stationary": Kernel("stationary"),
    "kernel discounted": Kernel("discounted", output="softplus"),
    "kernel direct": Kernel("direct"),
    "kernel published": published("discounted", Adam(Constant(1e-2))),
    "least squares direct": LeastSquares("direct", Fourier(16)),
    "least squares stationary": LeastSquares("stationary", Fourier(16)),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param]


def test_jit_and_vmap(terminating, anywhere, update, estimator):
    keys = jax.random.split(jax.random.key(0), 2)
    data = [terminating.sampled(anywhere, 50, seed) for seed in range(2)]
    states = jax.vmap(lambda key: estimator.init(key, terminating.mdp.spec))(keys)
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *data)
    state, info = jax.vmap(update, (None, 0, 0, None, 0))(estimator, states, together, GAMMA, keys)
    w = jax.vmap(lambda state, _: estimator.ratio(state, terminating.states))(state, keys)
    assert w.shape == (2, len(terminating.states)) and (w >= 0).all()

    alone, _ = update(estimator, jax.tree.map(lambda leaf: leaf[1], states), data[1], GAMMA, keys[1])
    np.testing.assert_allclose(estimator.ratio(alone, terminating.states), w[1], rtol=1e-5)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((state, info)))


def test_absent_rows_may_hold_anything(terminating, anywhere, update, estimator):
    data, key = terminating.sampled(anywhere, 50, 0), jax.random.key(0)
    absent = data.weight == 0
    wrecked = data._replace(
        rho=jnp.where(absent, jnp.nan, data.rho),
        batch=data.batch._replace(
            observation=jnp.where(absent[:, None], jnp.inf, data.batch.observation),
            next_observation=jnp.where(absent[:, None], jnp.nan, data.batch.next_observation),
        ),
    )
    state = estimator.init(key, terminating.mdp.spec)
    for a, b in zip(
        *(jax.tree.leaves(update(estimator, state, d, GAMMA, key)) for d in (data, wrecked)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_no_rows_no_change(terminating, anywhere, update, estimator):
    data, state = terminating.data(anywhere), estimator.init(jax.random.key(0), terminating.mdp.spec)
    empty = data._replace(weight=jnp.zeros_like(data.weight))
    new, info = update(estimator, state, empty, GAMMA, jax.random.key(1))
    jax.tree.map(np.testing.assert_array_equal, new, state)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(info))


@pytest.mark.parametrize("kind", [Kernel, LeastSquares])
def test_bound_and_mean(terminating, anywhere, update, kind):
    data = terminating.data(anywhere)
    for bound in (100.0, 0.5):
        estimator = kind("direct", bound=bound)
        state, _ = update(
            estimator, estimator.init(jax.random.key(0), terminating.mdp.spec), data, GAMMA, jax.random.key(1)
        )
        w = estimator.ratio(state, terminating.states)
        assert w.max() <= bound
    estimator = kind("direct")
    assert anywhere @ estimator.ratio(state, terminating.states) == pytest.approx(1.0, abs=1e-6)


def test_single_precision_keeps_small_directions(terminating, update):
    """64 waves over a grid of 36: half of Φ's directions lie below 1e-4, and w needs them."""
    with jax.enable_x64(False):
        place = jnp.stack(jnp.divmod(jnp.arange(36), 6), axis=1).astype(jnp.float32)
        mdp = replace(gridworld(6, 6), observations=place)
        mu = jnp.full((36, 4), 0.25)
        pi = 0.7 * jnp.array([0.0, 0.5, 0.5, 0.0]) + 0.3 * mu
        grid = terminating._replace(mdp=mdp, pi=pi, mu=mu)
        D = grid.stationary(mu)
        estimator = LeastSquares("direct", Fourier(64), ridge=1e-3)
        state = estimator.init(jax.random.key(0), mdp.spec)
        state, _ = update(estimator, state, grid.data(D), GAMMA, jax.random.key(1))
        w = grid.discounted(pi) / D
        assert grid.error(D, jnp.ones_like(w), w) > 0.5
        assert grid.error(D, estimator.ratio(state, grid.states), w) < 0.07


def test_the_pair_is_its_members(terminating, anywhere, update):
    pair = Ratios(w_hat=LeastSquares("stationary", Fourier(16)), w=One())
    state = pair.init(jax.random.key(0), terminating.mdp.spec)
    state, info = update(pair, state, terminating.data(anywhere), GAMMA, jax.random.key(1))
    w_hat, w = pair.weights(state, terminating.states)
    np.testing.assert_array_equal(w_hat, pair.w_hat.ratio(state.w_hat, terminating.states))
    assert set(info) == {"w_hat", "w"} and (w == 1).all() and w_hat.std() > 0


def test_unknown_choices_are_refused():
    with pytest.raises(UserError, match="form is one of stationary, discounted, direct, but 'both' came"):
        Kernel("both")
    with pytest.raises(UserError, match="direct or stationary"):
        LeastSquares("discounted")
