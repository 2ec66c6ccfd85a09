"""Row order, the weights' scale and copied rows carry no information."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offnac.ratios import Fourier, Kernel, LeastSquares, RatioData
from offnac.schedules import Clock
from offnac.transition import Spec, Transition

ROWS = 8
ESTIMATORS = {
    "kernel stationary": Kernel("stationary", unbiased=False),
    "kernel discounted": Kernel("discounted", unbiased=False),
    "kernel direct": Kernel("direct", unbiased=False),
    "least squares direct": LeastSquares("direct", Fourier(8)),
    "least squares stationary": LeastSquares("stationary", Fourier(8)),
}


@jax.jit
def summary(estimator, data):
    state = estimator.init(jax.random.key(0), Spec("rows", 2, 2))
    state, info = estimator.update(state, data, 0.9, jax.random.key(1), Clock.start())
    return estimator.ratio(state, jnp.linspace(-1.0, 1.0, 10).reshape(5, 2)), info


def rows(seed, weight) -> RatioData:
    """Rows, and as many places for copies, empty so far.

    One start, so that where a termination leads does not depend on the row's place.
    """
    rng = np.random.default_rng(seed)
    batch = Transition(
        observation=jnp.asarray(rng.normal(size=(ROWS, 2))),
        action=jnp.zeros(ROWS, int),
        reward=jnp.zeros(ROWS),
        next_observation=jnp.asarray(rng.normal(size=(ROWS, 2))),
        terminated=jnp.asarray(rng.random(ROWS) < 0.3),
        truncated=jnp.asarray(rng.random(ROWS) < 0.3),
        behaviour_prob=jnp.full(ROWS, 0.5),
        step=jnp.asarray(rng.integers(0, 9, ROWS)),
    )
    rho, start = jnp.asarray(rng.uniform(0, 2, ROWS)), jnp.asarray(rng.normal(size=(1, 2)))
    data = of_rows(RatioData(batch, rho, start, jnp.asarray(weight)), jnp.tile(jnp.arange(ROWS), 2))
    return data._replace(weight=data.weight.at[ROWS:].set(0.0))


def of_rows(data, index) -> RatioData:
    take = lambda leaf: leaf[index]  # noqa: E731
    return RatioData(jax.tree.map(take, data.batch), data.rho[index], data.initial, data.weight[index])


def same(estimator, a, b):
    solved = isinstance(estimator, LeastSquares)  # in single precision, however ill-conditioned
    close = {"rtol": 1e-3, "atol": 1e-5} if solved else {"rtol": 1e-6, "atol": 1e-8}
    for x, y in zip(*(jax.tree.leaves(summary(estimator, data)) for data in (a, b)), strict=True):
        np.testing.assert_allclose(x, y, **close)


WEIGHTS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=ROWS, max_size=ROWS)
QUICK = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param]


@QUICK
@given(seed=st.integers(0, 99), weight=WEIGHTS, order=st.permutations(range(2 * ROWS)))
def test_row_order(estimator, seed, weight, order):
    data = rows(seed, weight)
    same(estimator, data, of_rows(data, jnp.array(order)))


@QUICK
@given(seed=st.integers(0, 99), weight=WEIGHTS, scale=st.sampled_from([1e-3, 0.3, 50.0]))
def test_scale_of_the_weights(estimator, seed, weight, scale):
    data = rows(seed, weight)
    same(estimator, data, data._replace(weight=scale * data.weight))


@QUICK
@given(seed=st.integers(0, 99), weight=WEIGHTS)
def test_copied_rows(estimator, seed, weight):
    data = rows(seed, weight)
    same(estimator, data, data._replace(weight=jnp.tile(data.weight[:ROWS], 2)))
