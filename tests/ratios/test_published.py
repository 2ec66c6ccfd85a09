"""The published estimator, against its formula written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.networks import size
from offnac.optimisers import SGD, Adam
from offnac.ratios import RatioData, published
from offnac.schedules import Constant
from offnac.transition import Spec, Transition

GAMMA, STEPS = 0.99, 20


@pytest.fixture
def rollout():
    rng = np.random.default_rng(0)
    s = jnp.asarray(rng.normal(size=(STEPS + 1, 4)))
    end = jnp.arange(STEPS) == STEPS - 1
    batch = Transition(
        s[:-1],
        jnp.zeros(STEPS, int),
        jnp.zeros(STEPS),
        s[1:],
        end,
        ~end & False,
        jnp.ones(STEPS),
        jnp.arange(STEPS),
    )
    return RatioData(batch, jnp.asarray(rng.uniform(0, 2, STEPS)), s[:1], jnp.ones(STEPS))


def by_hand(w, data, kept, start):
    """mean over pairs of ΔΔ̄k(s′, s̄′), w divided by the mean over the kept steps, s₀ as a dummy transition."""
    batch, z = data.batch, w(data.batch.observation)[kept].mean()
    Delta = ((w(batch.observation) * data.rho - w(batch.next_observation)) / z)[kept]
    points = batch.next_observation[kept]
    if start:
        Delta = jnp.concatenate([Delta, 1.0 - w(data.initial) / z])
        points = jnp.concatenate([points, data.initial])
    k = jnp.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 2)
    return (Delta[:, None] * Delta[None] * k).mean()


@pytest.mark.parametrize("form", ["stationary", "discounted"])
def test_loss_and_step(rollout, update, form):
    estimator, key = published(form, SGD(Constant(1.0))), jax.random.key(3)
    state = estimator.init(jax.random.key(0), Spec("CartPole", 4, 2))
    mass = estimator.mass(rollout, GAMMA, jax.random.split(key)[0])
    kept = jnp.flatnonzero(mass)
    assert set(np.unique(mass)) <= {0.0, 1.0}

    def loss(parameters):
        return by_hand(lambda s: estimator.w(parameters, s), rollout, kept, form == "discounted")

    new, info = update(estimator, state, rollout, GAMMA, key)
    np.testing.assert_allclose(info.loss, jax.jit(loss)(state.parameters), rtol=1e-10)
    np.testing.assert_allclose(
        new.parameters, state.parameters - jax.jit(jax.grad(loss))(state.parameters), rtol=1e-8
    )


def test_raw_output_enters_the_updates(rollout, update):
    """Errata rows 10 and 23: exp of a 16-unit network with biases, neither normalised nor bounded."""
    estimator = published("stationary", Adam(Constant(1e-2)))
    assert size(estimator.network(4)) == 4 * 16 + 16 + 16 + 1
    state = estimator.init(jax.random.key(0), Spec("CartPole", 4, 2))
    state, info = update(estimator, state, rollout, GAMMA, jax.random.key(1))
    w = estimator.ratio(state, rollout.batch.observation)
    np.testing.assert_array_equal(w, estimator.w(state.parameters, rollout.batch.observation))
    assert info.mean == pytest.approx(float(w.mean()))


def test_steps_are_kept_with_probability_gamma_to_the_t_plus_1(rollout):
    estimator = published("discounted", Adam(Constant(1e-2)))
    kept = jax.vmap(lambda key: estimator.mass(rollout, 0.9, key))(
        jax.random.split(jax.random.key(0), 20_000)
    )
    np.testing.assert_allclose(kept.mean(0), 0.9 ** np.arange(1, STEPS + 1), atol=0.015)
