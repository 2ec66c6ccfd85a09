"""The model of a log: a walk on a line whose ends, rewards and flag are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.logs.log import Log
from offnac.networks import MLP
from offnac.policy import SoftmaxPolicy
from offnac.training.from_log import imagine
from offnac.training.from_log.data import load
from offnac.training.from_log.model import Model, fit, ranges
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition

STEP, EDGE = 0.1, 1.0
MODEL = Model(actions=2, members=2, hidden=(32, 32), least=1500, most=1500)


@pytest.fixture(scope="module")
def log():
    """Steps of ±0.1 from anywhere in (−1, 1); 1 for each to the right; the task ends beyond an edge, which
    costs 5; the second number says on which side of 0 one is."""
    rng, rows = np.random.default_rng(0), 4000
    place = rng.uniform(-EDGE, EDGE, rows)
    action = rng.integers(2, size=rows).astype(np.int32)
    following = place + STEP * (2 * action - 1)
    ended = abs(following) > EDGE

    def shown(x):
        return np.stack([x, np.sign(x)], axis=1).astype(np.float32)

    return Log(
        Spec("", 2, 2),
        Transition(
            shown(place),
            action,
            np.where(ended, -5.0, action).astype(np.float32),
            shown(following),
            ended,
            ~ended,
            np.full(rows, 0.5, np.float32),
            np.zeros(rows, np.int32),
        ),
        np.arange(rows),
    )


@pytest.fixture(scope="module")
def known(log):
    scale = units(log)
    data = load(log, scale, horizon=10)
    return scale, data, fit(MODEL, data, 0.25, seed=0)


def scaled(known, places):
    places = np.asarray(places, np.float32)
    return jnp.asarray((np.stack([places, np.sign(places)], axis=1) - known[0].mean) / known[0].scale)


def test_ranges_know_flags_and_rewards_of_both_kinds(known):
    found = ranges(known[1])
    assert found.flag.tolist() == [False, True]
    np.testing.assert_allclose(found.reward[:, 0], [0.5, -5.0], atol=0.05)


def test_a_model_foresees_moves_ends_and_rewards(known):
    scale, _, state = known
    draws, ends = 50, np.array([1, 0, 0, 0, 0, 0, 0, 1], bool)
    states = scaled(known, np.tile([-0.99, -0.5, 0.5, 0.99], 2 * draws))[None].repeat(2, axis=0)
    action = jnp.tile(jnp.repeat(jnp.arange(2), 4), (2, draws))
    outcome = MODEL.predict(state, states, action, jax.random.key(1))
    np.testing.assert_allclose(outcome.terminated.reshape(-1, 8).mean(0), ends, atol=0.4)
    moved = (outcome.next_observation - states)[..., 0].reshape(-1, 8).mean(0) * scale.scale[0]
    np.testing.assert_allclose(moved[~ends], [-0.1] * 3 + [0.1] * 3, atol=0.04)
    reward = np.asarray(outcome.reward)[~np.asarray(outcome.terminated)]
    expected = np.asarray(action)[~np.asarray(outcome.terminated)]
    assert np.abs(reward - expected).mean() < 0.2
    np.testing.assert_allclose(outcome.reward[outcome.terminated], -5.0, atol=0.5)


def test_imagined_rows_follow_the_policy_and_begin_again_after_an_end(known):
    policy = SoftmaxPolicy(MLP(2, (), 2))
    theta = jnp.array([0.0, 0.0, 0.0, 0.0, -9.0, 9.0])  # always to the right
    starts = scaled(known, [0.0, 0.75])
    rows = imagine.rows(MODEL, known[2], policy, theta, starts, 6, jax.random.key(2))
    np.testing.assert_allclose(policy.probability_ratio(theta, rows), 1.0, rtol=1e-5)
    assert (rows.action == 1).all()
    near, ended = rows.observation.reshape(6, 2, 2)[:, 1], rows.terminated.reshape(6, 2)[:, 1]
    assert ended.any()
    for after in np.flatnonzero(ended[:-1]) + 1:
        np.testing.assert_allclose(near[after], starts[1], atol=1e-5)


def test_the_value_in_the_model_is_the_policys(known):
    policy = SoftmaxPolicy(MLP(2, (), 2))
    theta = jnp.array([0.0, 0.0, 0.0, 0.0, -9.0, 9.0])
    starts = scaled(known, np.full(8, 0.55))
    value = imagine.value(MODEL, known[2], policy, theta, starts, 20, 0.9, jax.random.key(3))
    exact = sum(0.9**t for t in range(4)) - 5 * 0.9**4  # four steps to 0.95, the fifth ends it
    np.testing.assert_allclose(value, exact, atol=0.7)
