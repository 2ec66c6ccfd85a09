"""The model of a log: a walk on a line whose ends, rewards and flag are known."""

from dataclasses import replace
from functools import partial
from threading import Event

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.logs.log import Log
from offnac.networks import MLP
from offnac.policy import SoftmaxPolicy
from offnac.training.from_log import imagine
from offnac.training.from_log.data import load
from offnac.training.from_log.model import BEYOND, Model, _made_up, fit
from offnac.training.from_log.ranges import ranges_of, straight
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition

STEP, EDGE = 0.1, 1.0
MODEL = Model(actions=2, members=2, hidden=(64, 64), batch=64, least=1500, most=1500)


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
    ranges = ranges_of(data, scale, 2)
    return scale, data, fit(MODEL, data, ranges, lambda done, of: None, Event())


def scaled(known, places):
    places = np.asarray(places, np.float32)
    return jnp.asarray((np.stack([places, np.sign(places)], axis=1) - known[0].mean) / known[0].scale)


def test_ranges_know_flags_and_rewards_of_both_kinds(known):
    found = ranges_of(known[1], known[0], 2)
    assert found.flag.tolist() == [False, True]
    np.testing.assert_allclose(found.price, [0.0, 1.0], atol=0.05)
    np.testing.assert_allclose(found.reward[1], -5.0, atol=0.05)


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


def test_walks_follow_the_policy_and_begin_again_after_an_end(known):
    policy = SoftmaxPolicy(MLP(2, (), 2))
    theta = jnp.array([0.0, 0.0, 0.0, 0.0, -9.0, 9.0])  # always to the right
    walks, again = scaled(known, [0.0, 0.75])[:, None], scaled(known, np.full(12, -0.5)).reshape(6, 2, 1, 2)
    walk = partial(imagine.rows, MODEL, known[2], policy, theta, walks, again)
    after, rows = walk(0.0, jax.random.key(2))
    np.testing.assert_allclose(policy.probability_ratio(theta, rows), 1.0, rtol=1e-5)
    assert (rows.action == 1).all()
    seen, ended = rows.observation.reshape(6, 2, 2), rows.terminated.reshape(6, 2)
    assert ended[:, 1].any() and not ended[:2].any()
    following = np.concatenate([seen[1:], after.reshape(1, 2, 2)])
    gone_on = rows.next_observation.reshape(6, 2, 2)
    np.testing.assert_array_equal(following, np.where(ended[..., None], again[:, :, 0], gone_on))
    _, rows = walk(1.0, jax.random.key(2))
    np.testing.assert_array_equal(rows.observation.reshape(6, 2, 2)[1:], again[:-1, :, 0])


def test_the_straight_part_goes_on_where_the_log_does_not(known):
    found = known[2].ranges
    beyond = scaled(known, [-3.0, 3.0])
    moved = straight(found, beyond, jnp.array([0, 1])) * found.step
    np.testing.assert_allclose(moved[:, 0] * known[0].scale[0], [-STEP, STEP], atol=1e-3)
    np.testing.assert_array_equal(moved[:, 1], 0.0)  # a flag has none


def test_who_leaves_what_the_log_holds_is_told_and_stays_near(known):
    scale, _, state = known
    far = scaled(known, [-1.12, 1.12])
    outcome = MODEL.predict(state, jnp.stack([far, far]), jnp.array([[0, 1], [0, 1]]), jax.random.key(4))
    assert outcome.left.all()
    place = outcome.next_observation[..., 0] * scale.scale[0] + scale.mean[0]
    assert (jnp.abs(place) <= 1.1 * (1 + 2 * BEYOND) + 1e-3).all()
    inside = jnp.stack([scaled(known, [0.2, -0.2])] * 2)
    assert not MODEL.predict(state, inside, jnp.zeros((2, 2), int), jax.random.key(5)).left.any()


def test_ends_can_be_foreseen_without_regard_to_flags(known):
    _, data, state = known
    blind = replace(MODEL, ends_by_flags=False, least=50, most=50)
    blind_state = fit(blind, data, state.ranges, lambda done, of: None, Event())
    states = scaled(known, [-0.5, 0.9])
    other = states.at[:, 1].set(jnp.where(states[:, 1] > 0, state.ranges.low[1], state.ranges.high[1]))
    odds = [
        [
            model.ends(
                model.networks(2), psi, found.ranges, model.known(found.ranges, shown, jnp.array([0, 1]))
            )
            for shown in (states, other)
        ]
        for model, found in ((MODEL, state), (blind, blind_state))
        for psi in found.members()[:1]
    ]
    assert (odds[0][0] != odds[0][1]).all()
    np.testing.assert_array_equal(*odds[1])


def test_who_is_calm_foresees_fewer_ends_where_nobody_has_been(known):
    """Beyond the right edge, but as if left of 0: no row tells of that."""
    _, data, state = known
    nowhere = scaled(known, [0.95]).at[:, 1].set(state.ranges.low[1])

    def odds(calm):
        model = replace(MODEL, calm=calm, least=400, most=400)
        found = fit(model, data, state.ranges, lambda done, of: None, Event())
        psi, shown = found.members()[0], model.known(state.ranges, nowhere, jnp.array([1]))
        return float(model.ends(model.networks(2), psi, state.ranges, shown)[0, 0])

    assert odds(1.0) < odds(None) - 1.0


def test_made_up_states_hold_nothing_but_what_was_seen_of_each_number(known):
    _, data, state = known
    batch = data.draw(33, 0.5, jax.random.key(0))
    made_up, action = _made_up(state.ranges, batch, jax.random.key(1))
    assert made_up.shape == (17, 2) and action.shape == (17,)
    assert set(np.asarray(made_up[:, 0]).tolist()) <= set(np.asarray(batch.observation[:, 0]).tolist())
    assert set(np.asarray(made_up[:, 1]).tolist()) == {
        float(state.ranges.low[1]),
        float(state.ranges.high[1]),
    }
