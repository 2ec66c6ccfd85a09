"""What rewards are shaped by: found where there is a potential, and taken out without a trace."""

from dataclasses import replace
from threading import Event

import jax.numpy as jnp
import numpy as np
import pytest

from offnac.logs.log import Log
from offnac.presets.from_log import ALGORITHMS, DEFAULT, favour, from_log, row_for
from offnac.training.from_log import potential
from offnac.training.from_log.data import load
from offnac.training.from_log.potential import find, over_rows
from offnac.training.from_log.split import split
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition

GAMMA = 0.9
PRICE = np.array([0.0, -0.3])
pytestmark = pytest.mark.optimised


def silent(done, of):
    pass


def height(place):
    return -10.0 * np.hypot(place[:, 0], 0.5 * place[:, 1])


def walks(reward):
    """Episodes of 20 steps that drift about a plane; the last step of every other one is its end."""
    rng, episodes, length = np.random.default_rng(0), 300, 20
    action = rng.integers(2, size=(episodes, length)).astype(np.int32)
    step = 0.1 * rng.normal(size=(episodes, length, 2)) + 0.05 * (2 * action[..., None] - 1)
    path = rng.normal(size=(episodes, 1, 2)) + np.cumsum(np.concatenate([0 * step[:, :1], step], 1), axis=1)
    before, after = path[:, :-1].reshape(-1, 2), path[:, 1:].reshape(-1, 2)
    last = np.tile(np.arange(length) == length - 1, episodes)
    ended = last & (np.repeat(np.arange(episodes), length) % 2 == 0)
    given = np.where(ended, -7.0, reward(before, action.ravel(), after, rng))
    return Log(
        Spec("", 2, 2),
        Transition(
            before.astype(np.float32),
            action.ravel(),
            given.astype(np.float32),
            after.astype(np.float32),
            ended,
            last & ~ended,
            np.full(len(last), 0.5, np.float32),
            np.tile(np.arange(length), episodes).astype(np.int32),
        ),
        np.repeat(np.arange(episodes), length),
    )


@pytest.fixture(scope="module")
def shaped():
    log = walks(lambda before, action, after, rng: PRICE[action] + height(after) - height(before))
    scale = units(log)
    return log, scale, find(*split(log), scale, silent, Event())


def test_a_potential_is_found_and_what_is_left_are_the_prices(shaped):
    log, scale, found = shaped
    assert found.shaped and float(found.left) < 0.02
    rest = over_rows(load(log, scale, 10), found.taken_out).rows
    size = len(log)
    reward, ended = np.asarray(rest.reward)[:size], np.asarray(rest.terminated)[:size]
    prices = [reward[~ended & (log.rows.action == a)].mean() for a in range(2)]
    np.testing.assert_allclose(prices, PRICE, atol=0.05)
    np.testing.assert_allclose(found.price, PRICE, atol=0.05)
    np.testing.assert_allclose(reward[ended], -7.0)


def test_what_is_learned_from_is_r_less_the_discounted_progress(shaped):
    log, scale, found = shaped
    data = load(log, scale, 10)
    rows = found.discounted(found.taken_out(data.rows), GAMMA)
    f, after = found(data.rows.observation), found(data.rows.next_observation)
    expected = data.rows.reward + f - GAMMA * data.rows.continues * after
    np.testing.assert_allclose(rows.reward, expected, rtol=1e-4, atol=1e-3)
    assert abs(float(jnp.mean(found(data.starts[: int(data.starts_size)])))) < 1.0


def test_rewards_that_never_differ_have_no_potential():
    log = walks(lambda before, action, after, rng: np.full(len(action), -1.0))
    found = find(*split(log), units(log), silent, Event())
    assert not found.shaped
    rows = load(log, units(log), 10).rows
    np.testing.assert_array_equal(found.taken_out(rows).reward, rows.reward)


def test_rewards_that_are_no_progress_are_not_called_shaped():
    log = walks(lambda before, action, after, rng: rng.normal(size=len(action)))
    assert not find(*split(log), units(log), silent, Event()).shaped


def test_another_currency_changes_nothing(shaped):
    log, _, found = shaped
    rich = replace(log, rows=log.rows._replace(reward=log.rows.reward * np.float32(1024.0)))
    other = find(*split(rich), units(rich), silent, Event())
    np.testing.assert_allclose(float(other.left), float(found.left), rtol=1e-3)


def test_shaped_rewards_have_a_longer_horizon_and_settings_of_their_own():
    plain, far = row_for(22_000), row_for(22_000, shaped=True)
    assert plain == DEFAULT and far.gamma > plain.gamma and far.depth > plain.depth and far.kl < plain.kl


def test_what_costs_least_is_favoured_by_a_part_of_what_actions_cost():
    assert favour(0.5, [-0.3, -0.1, -0.2]) == pytest.approx((0.0, 0.1, 0.0))
    assert favour(0.0, PRICE) is None and favour(0.5, []) is None
    spec, row = Spec("", 2, 2), row_for(22_000, shaped=True)
    actors = {name: from_log(name, spec, 1.0, prices=PRICE, row=row).algorithm for name in ALGORITHMS}
    assert actors["offnac"].favour == actors["offac"].favour == pytest.approx((0.3 * row.margin, 0.0))
    assert actors["bc"].favour is None  # what was done is what was done
    assert from_log("offnac", spec, 1.0, prices=PRICE).algorithm.favour is None  # rewards are not shaped


def test_a_stop_is_heard():
    stop = Event()
    stop.set()
    log = walks(lambda before, action, after, rng: rng.normal(size=len(action)))
    with pytest.raises(potential.Stopped):
        find(*split(log), units(log), silent, stop)


def test_how_far_the_search_is_is_told():
    told = []
    log = walks(lambda before, action, after, rng: rng.normal(size=len(action)))
    find(*split(log), units(log), lambda done, of: told.append((done, of)), Event())
    assert told[-1][0] == told[-1][1] >= potential.LEAST
