"""Flags: which belong together, and that a model of a finite MDP has its transition probabilities."""

from threading import Event

import jax
import jax.numpy as jnp
import numpy as np

from offnac.environments.tabular import random_mdp
from offnac.logs.log import Log
from offnac.training.from_log import flags
from offnac.training.from_log.data import load
from offnac.training.from_log.model import Model, fit
from offnac.training.from_log.ranges import ranges_of
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition

STATES, ACTIONS = 4, 2


def test_flags_of_one_kind_are_found_among_others():
    rng = np.random.default_rng(0)
    kind, other, coin = rng.integers(3, size=200), rng.integers(2, size=200), rng.integers(2, size=200)
    columns = [kind == 0, other == 0, kind == 1, coin == 1, other == 1, kind == 2]
    high, flag = np.stack(columns, axis=1), np.ones(6, bool)
    assert flags.groups(high, flag).tolist() == [0, 1, 0, 3, 1, 0]
    flag[2] = False  # a column of many values belongs nowhere, nor do the rest of what it was of
    assert flags.groups(high, flag).tolist() == [0, 1, 2, 3, 1, 5]


def test_one_of_a_kind_is_high_by_its_odds_and_a_lone_flag_by_its_own():
    group, chance = jnp.array([0, 0, 2, 0]), jnp.array([0.2, 0.3, 0.9, 0.5])
    odds = jnp.log(chance).at[2].set(jnp.log(9.0))
    tossed = flags.toss(jnp.tile(odds, (4000, 1)), group, jax.random.key(0))
    assert (tossed[:, jnp.array([0, 1, 3])].sum(axis=1) == 1).all()
    np.testing.assert_allclose(tossed.mean(axis=0), chance, atol=0.03)
    high = jnp.array([[0.0, 1.0, 0.0, 0.0]])
    expected = -jnp.log(jnp.array([1.0, 0.3, 0.1, 1.0]))
    np.testing.assert_allclose(flags.surprise(odds[None], high, group)[0], expected, atol=1e-5)


def test_a_finite_mdp_is_modelled_by_its_transition_probabilities():
    mdp = random_mdp(jax.random.key(0), STATES, ACTIONS)
    rng, rows = np.random.default_rng(0), 8000
    state, action = rng.integers(STATES, size=rows), rng.integers(ACTIONS, size=rows).astype(np.int32)
    chances = np.asarray(mdp.P)
    following = (rng.uniform(size=(rows, 1)) > chances[state, action].cumsum(axis=1)).sum(axis=1)
    following = np.minimum(following, STATES - 1)
    shown, never = np.eye(STATES, dtype=np.float32), np.zeros(rows, bool)
    log = Log(
        Spec("", STATES, ACTIONS),
        Transition(
            shown[state],
            action,
            np.asarray(mdp.r)[state, action].astype(np.float32),
            shown[following],
            never,
            ~never,
            np.full(rows, 0.5, np.float32),
            np.zeros(rows, np.int32),
        ),
        np.arange(rows),
    )
    scale = units(log)
    data = load(log, scale, horizon=10)
    assert ranges_of(data, scale, ACTIONS).group.tolist() == [0] * STATES
    model, draws = Model(ACTIONS, 1, (32, 32), batch=128, least=2000), 2000
    model_state = fit(model, data, ranges_of(data, scale, ACTIONS), lambda done, of: None, Event())
    every = np.tile(np.repeat(np.arange(STATES), ACTIONS), draws)
    observation = (shown[every] - scale.mean) / scale.scale
    done = jnp.tile(jnp.arange(ACTIONS), STATES * draws)
    outcome = model.predict(model_state, jnp.asarray(observation)[None], done[None], jax.random.key(1))
    seen = np.asarray(outcome.next_observation[0]) * scale.scale + scale.mean
    np.testing.assert_allclose(np.sort(seen, axis=1), np.tile(np.eye(STATES)[-1], (len(seen), 1)), atol=1e-5)
    modelled = seen.reshape(draws, STATES, ACTIONS, STATES).mean(axis=0)
    np.testing.assert_allclose(modelled, chances, atol=0.06)
    reward = np.asarray(outcome.reward[0]).reshape(draws, STATES, ACTIONS).mean(axis=0)
    np.testing.assert_allclose(reward, mdp.r, atol=0.1)
