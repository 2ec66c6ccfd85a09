"""The parts of learning from a log: which rows tell, which episodes are held out, which policy is chosen."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offnac.critics import TD, Cautious
from offnac.critics.cautious import mixed
from offnac.directions import Imitation
from offnac.errors import UserError
from offnac.logs.log import Log
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock, Constant
from offnac.training.from_log.choose import choose
from offnac.training.from_log.data import load, telling_rows
from offnac.training.from_log.judge import Judgement
from offnac.training.from_log.program import Candidate
from offnac.training.from_log.ranges import ranges_of, straight
from offnac.training.from_log.split import split
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition


def a_log(lengths, rewards=None, terminated=()):
    """A log of episodes of some lengths; an episode's last row is terminated or truncated."""
    rows, episode = sum(lengths), np.repeat(np.arange(len(lengths)), lengths)
    ends = np.cumsum(lengths) - 1
    ended = np.zeros(rows, bool)
    ended[ends] = np.isin(np.arange(len(lengths)), terminated)
    last = np.zeros(rows, bool)
    last[ends] = True
    observation = np.random.default_rng(0).normal(3.0, 2.0, (rows, 2)).astype(np.float32)
    return Log(
        Spec("", 2, 2),
        Transition(
            observation,
            np.arange(rows, dtype=np.int32) % 2,
            np.full(rows, -1.0, np.float32) if rewards is None else np.asarray(rewards, np.float32),
            observation + 1,
            ended,
            last & ~ended,
            np.full(rows, 0.5, np.float32),
            np.concatenate([np.arange(length) for length in lengths]).astype(np.int32),
        ),
        episode,
    )


def test_telling_rows_lead_to_an_end_or_an_unusual_reward():
    assert telling_rows(a_log([5, 4], terminated=[1]), horizon=3).tolist() == [6, 7, 8]
    rewards = [-1, -1, 5, -1, -1, -1, -1, -1, -1]
    assert telling_rows(a_log([5, 4], rewards), horizon=2).tolist() == [1, 2]
    assert len(telling_rows(a_log([5, 4]), horizon=9)) == 0


def test_rows_are_drawn_in_the_shares_asked_for():
    log = a_log([400, 10], terminated=[1])
    data = load(log, units(log), horizon=5)
    numbers = np.asarray(data.numbers(4000, 0.25, jax.random.key(0)))
    assert numbers.max() < len(log)
    assert (numbers >= 405).mean() == pytest.approx(0.25 + 0.75 * 5 / 410, abs=0.03)
    drawn = data.draw(4000, 0.25, jax.random.key(0))
    np.testing.assert_allclose(drawn.observation, np.asarray(data.rows.observation)[numbers])
    np.testing.assert_allclose(drawn.observation.mean(0), 0.0, atol=0.3)


@given(goals=st.integers(0, 30), others=st.integers(0, 30))
def test_both_kinds_of_episodes_are_divided_alike(goals, others):
    if goals + others == 0:
        return
    log = a_log([2] * (goals + others), terminated=range(goals))
    seen, held = split(log)
    if held is log:
        assert seen is log
        return
    assert seen.episodes + held.episodes == log.episodes
    assert held.rows.terminated.sum() == round(0.1 * goals)
    assert held.rows.truncated.sum() == round(0.1 * others)


def judgement(values, noise):
    """Candidates whose episodes differ by noise of their own."""
    rng = np.random.default_rng(0)
    return Judgement(
        np.asarray(values, float), noise * rng.normal(size=(len(values), 50)), np.ones(len(values))
    )


def test_the_latest_is_chosen_unless_it_is_seen_to_be_worse():
    assert choose(judgement([0, 1, 2, 3, 4, 5, 5, 5], 0.01), 10, 80)["iteration"] == 80
    rise_and_fall = judgement([0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0], 0.01)
    chosen = choose(rise_and_fall, 10, 150)
    assert 70 <= chosen["iteration"] <= 100
    assert "falls short" in chosen["reason"]
    assert (
        choose(rise_and_fall._replace(influence=judgement(range(15), 5.0).influence), 10, 150)["iteration"]
        == 150
    )


def test_what_diverged_is_never_chosen():
    chosen = choose(judgement([0, 1, np.nan, np.inf], 0.01), 10, 40)
    assert chosen["iteration"] == 20
    with pytest.raises(UserError, match="learning diverged"):
        choose(judgement([np.nan, np.nan], 0.01), 10, 20)


@pytest.fixture(scope="module")
def batch():
    log = a_log([64], terminated=[0])
    return jax.tree.map(jnp.asarray, log.rows)._replace(observation=jnp.asarray(log.rows.observation) - 3.0)


def test_without_weight_caution_is_td(batch):
    td = TD(MLP(2, (8,), 1), SGD(Constant(0.1)))
    state, ones = td.init(jax.random.key(0)), jnp.ones(64)
    plain, cautious = (
        critic.update(state, batch, ones, ones, 0.9, Clock.start())
        for critic in (td, Cautious(td, weight=0.0))
    )
    np.testing.assert_allclose(plain.psi, cautious.psi, rtol=1e-5, atol=1e-6)


def test_promises_far_away_are_held_down_and_losses_believed(batch):
    td = TD(MLP(2, (8,), 1), SGD(Constant(0.05)))
    far = 4.0 * mixed(batch.observation)
    for reward, held_down in ((1.0, True), (-1.0, False)):
        rows = batch._replace(reward=jnp.full(64, reward), terminated=jnp.zeros(64, bool))
        values = []
        for weight in (0.0, 10.0):
            critic = Cautious(td, weight=weight, reach=4.0)
            step = jax.jit(partial(critic.update, gamma=0.9, clock=Clock.start()))
            state = critic.init(jax.random.key(0))
            for _ in range(200):
                state = step(state, rows, jnp.ones(64), jnp.ones(64))
            values.append(float(jnp.maximum(critic.value(state.psi, far), 0.0).mean()))
        free, cautious = values
        assert (cautious < 0.7 * free) if held_down else (cautious <= free + 0.05)


def test_mixed_states_have_every_coordinate_of_the_rows(batch):
    made_up = np.asarray(mixed(batch.observation))
    np.testing.assert_array_equal(np.sort(made_up, axis=0), np.sort(batch.observation, axis=0))
    assert not np.array_equal(made_up, batch.observation)


def test_imitation_climbs_the_likelihood(batch):
    policy = SoftmaxPolicy(MLP(2, (4,), 2))
    theta = policy.init(jax.random.key(1))
    _, x = Imitation().update((), policy, theta, batch, 3.0 * jnp.ones(64), jnp.ones(64), Clock.start())
    likelihood = jax.grad(lambda t: policy.log_prob(t, batch.observation, batch.action).mean())(theta)
    np.testing.assert_allclose(x, likelihood, rtol=1e-4, atol=1e-6)


def test_a_unit_scales_the_value():
    network = MLP(2, (8,), 1)
    plain, scaled = TD(network, SGD(Constant(0.1))), TD(network, SGD(Constant(0.1)), unit=7.0)
    psi, at = plain.init(jax.random.key(0)).psi, jnp.ones((3, 2))
    np.testing.assert_allclose(scaled.value(psi, at), 7.0 * plain.value(psi, at), rtol=1e-6)


def test_the_straight_part_is_how_most_rows_move():
    """One row in ten hits something and is thrown back: the line does not bend towards it."""
    rng, rows = np.random.default_rng(0), 4000
    log = a_log([rows])
    place = rng.normal(size=(rows, 2))
    moved = np.stack([0.1 * place[:, 1] + 0.02, np.full(rows, -0.05)], axis=1)
    moved[rng.random(rows) < 0.1] += 3.0
    columns = log.rows._replace(
        observation=place.astype(np.float32), next_observation=(place + moved).astype(np.float32)
    )
    log = replace(log, rows=columns)
    scale = units(log)
    found = ranges_of(load(log, scale, 10), scale, 2)
    states = jnp.asarray((place[:50] - scale.mean) / scale.scale, jnp.float32)
    said = straight(found, states, jnp.zeros(50, jnp.int32)) * found.step * scale.scale
    expected = np.stack([0.1 * place[:50, 1] + 0.02, np.full(50, -0.05)], axis=1)
    np.testing.assert_allclose(said, expected, atol=2e-3)


def test_an_action_that_was_never_taken_moves_nothing():
    log = a_log([50])
    log = replace(log, rows=log.rows._replace(action=np.zeros(50, np.int32)))
    scale = units(log)
    assert not np.asarray(ranges_of(load(log, scale, 10), scale, 2).straight[1]).any()


def test_a_candidate_is_the_mean_of_the_last_four():
    theta, psi = jnp.arange(6.0)[:, None] * jnp.array([[1.0, 2.0]]), jnp.arange(6.0)[:, None]
    averaged = Candidate(theta, psi).averaged()
    np.testing.assert_allclose(averaged.theta[:, 0], [0.0, 0.5, 1.0, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(averaged.theta[:, 1], 2.0 * averaged.theta[:, 0])
    np.testing.assert_array_equal(averaged.psi, psi)
