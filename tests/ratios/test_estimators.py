"""What holds of every estimator: it jits, batches, and survives rows that are not there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.errors import UserError
from offnac.optimisers import Adam
from offnac.ratios import Fourier, Kernel, LeastSquares, One, Ratios, published
from offnac.schedules import Clock, Constant

ESTIMATORS = {
    "one": One(),
    "kernel stationary": Kernel("stationary"),
    "kernel discounted": Kernel("discounted", output="softplus"),
    "kernel direct": Kernel("direct"),
    "kernel published": published("discounted", Adam(Constant(1e-2))),
    "least squares direct": LeastSquares("direct", Fourier(16)),
    "least squares stationary": LeastSquares("stationary", Fourier(16)),
}


@jax.jit
def updated(estimator, data, state, key):
    return estimator.update(state, data, 0.9, key, Clock.start())


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param]


def test_jit_and_vmap(finite, anywhere, estimator):
    keys = jax.random.split(jax.random.key(0), 2)
    data = [finite.sampled(anywhere, 50, seed) for seed in range(2)]
    states = jax.vmap(lambda key: estimator.init(key, finite.mdp.spec))(keys)
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *data)
    state, info = jax.vmap(updated, (None, 0, 0, 0))(estimator, together, states, keys)
    w = jax.vmap(estimator.ratio, (0, None))(state, finite.states)
    assert w.shape == (2, len(finite.states)) and (w >= 0).all()

    alone, _ = updated(estimator, data[1], jax.tree.map(lambda leaf: leaf[1], states), keys[1])
    np.testing.assert_allclose(estimator.ratio(alone, finite.states), w[1], rtol=1e-5)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((state, info)))


def test_absent_rows_may_hold_anything(finite, anywhere, estimator):
    data, key = finite.sampled(anywhere, 50, 0), jax.random.key(0)
    absent = data.weight == 0
    wrecked = data._replace(
        rho=jnp.where(absent, jnp.nan, data.rho),
        batch=data.batch._replace(
            observation=jnp.where(absent[:, None], jnp.inf, data.batch.observation),
            next_observation=jnp.where(absent[:, None], jnp.nan, data.batch.next_observation),
        ),
    )
    state = estimator.init(key, finite.mdp.spec)
    for a, b in zip(
        *(jax.tree.leaves(updated(estimator, d, state, key)) for d in (data, wrecked)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_no_rows_no_change(finite, anywhere, estimator):
    data, state = finite.data(anywhere), estimator.init(jax.random.key(0), finite.mdp.spec)
    empty = data._replace(weight=jnp.zeros_like(data.weight))
    new, info = updated(estimator, empty, state, jax.random.key(1))
    jax.tree.map(np.testing.assert_array_equal, new, state)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(info))


@pytest.mark.parametrize("kind", [Kernel, LeastSquares])
def test_bound_and_mean(finite, anywhere, kind):
    data = finite.data(anywhere)
    for bound in (100.0, 0.5):
        estimator = kind("direct", bound=bound)
        state, _ = updated(
            estimator, data, estimator.init(jax.random.key(0), finite.mdp.spec), jax.random.key(1)
        )
        w = estimator.ratio(state, finite.states)
        assert w.max() <= bound
    estimator = kind("direct")
    assert anywhere @ estimator.ratio(state, finite.states) == pytest.approx(1.0, abs=1e-6)


def test_single_precision_stays_finite(finite, anywhere):
    """129 waves over 6 states: Φ has rank 6."""
    data = finite.sampled(anywhere, 200, 0)
    D, w = anywhere, finite.discounted(finite.pi) / anywhere
    with jax.enable_x64(False):
        narrow = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)), data)
        narrow = jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if leaf.dtype == float else leaf, narrow)
        estimator = LeastSquares("direct", Fourier(128))
        state = estimator.init(jax.random.key(0), finite.mdp.spec)
        state, _ = updated(estimator, narrow, state, jax.random.key(1))
        ratio = np.asarray(estimator.ratio(state, jnp.eye(len(D), dtype=jnp.float32)))
    assert finite.error(D, ratio, w) < finite.error(D, jnp.ones_like(w), w)


def test_the_pair_is_its_members(finite, anywhere):
    pair = Ratios(w_hat=LeastSquares("stationary", Fourier(16)), w=One())
    state = pair.init(jax.random.key(0), finite.mdp.spec)
    state, info = updated(pair, finite.data(anywhere), state, jax.random.key(1))
    w_hat, w = pair.weights(state, finite.states)
    np.testing.assert_array_equal(w_hat, pair.w_hat.ratio(state.w_hat, finite.states))
    assert set(info) == {"w_hat", "w"} and (w == 1).all() and w_hat.std() > 0


def test_unknown_choices_are_refused():
    with pytest.raises(UserError, match="form is one of stationary, discounted, direct, but 'both' came"):
        Kernel("both")
    with pytest.raises(UserError, match="direct or stationary"):
        LeastSquares("discounted")
