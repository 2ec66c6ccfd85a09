"""By what a task ends: a rule that a few ends are enough for, where one is simple enough to be believed."""

import jax.numpy as jnp
import numpy as np
import pytest

from offnac.training.from_log.rule import WIDE, no_rule, rule_of
from offnac.transition import Transition

OFFSET, SCALE = np.array([0.5, 0.0, -1.0, 0.0, 0.0, 3.0]), np.array([2.0, 0.5, 1.0, 1.0, 4.0, 0.1])


def swings(rng, rows, energy):
    """A double pendulum's joints, as Acrobot shows them, and whether its tip is above the bar."""
    first, second, *speeds = rng.normal(0.0, energy, (4, rows))
    shown = np.stack([np.cos(first), np.sin(first), np.cos(second), np.sin(second), *speeds], axis=1)
    return (shown - OFFSET) / SCALE, -np.cos(first) - np.cos(first + second) > 1.0


def transitions(following, ended, observation=None):
    following = np.asarray(following, np.float32)
    rows = len(following)
    nothing = np.zeros(rows, np.float32)
    before = following + 1.0 if observation is None else observation
    action = np.zeros(rows, np.int32)
    return Transition(before, action, nothing, following, ended, ~ended, nothing + 1.0, action)


def chance(rule, following):
    return 1.0 / (1.0 + np.exp(-np.asarray(rule.odds(jnp.asarray(following, jnp.float32)))))


def test_a_few_ends_tell_where_the_others_are():
    rng = np.random.default_rng(0)
    following, ended = swings(rng, 40_000, 0.55)
    assert 5 <= ended.sum() <= 25
    rule = rule_of(transitions(following, ended))
    assert rule.believed
    others, truly = swings(rng, 40_000, 1.2)  # of which many times as many end
    assert truly.mean() > 100 * ended.mean()
    said = chance(rule, others)
    assert said[truly].mean() > 0.7 and said[~truly].mean() < 0.1


def test_an_end_on_either_side_is_one_rule():
    place = np.linspace(-1.2, 1.2, 481)
    following = np.stack([place, np.zeros_like(place), np.sin(40.0 * place)], axis=1)
    rule = rule_of(transitions(following, abs(place) > 1.0))
    assert rule.believed
    near = abs(abs(place) - 1.0) < 0.05
    np.testing.assert_array_equal((chance(rule, following) > 0.5)[~near], (abs(place) > 1.0)[~near])


def test_what_no_rule_explains_is_not_believed():
    rng = np.random.default_rng(1)
    following = rng.normal(size=(4000, 3))
    assert not rule_of(transitions(following, rng.uniform(size=4000) < 0.01)).believed
    ripples = np.sin(8.0 * following[:, 0]) > 0.9
    assert not rule_of(transitions(following, ripples)).believed


@pytest.mark.parametrize("ended", [np.zeros(50, bool), np.ones(50, bool)])
def test_without_ends_or_with_nothing_else_there_is_no_rule(ended):
    rows = transitions(np.random.default_rng(2).normal(size=(50, 2)), ended)
    assert not rule_of(rows).believed


def test_a_log_that_does_not_say_where_ends_led_has_no_rule():
    """There s stands for s′."""
    following = np.linspace(-1.2, 1.2, 200)[:, None].astype(np.float32)
    ended = abs(following[:, 0]) > 1.0
    assert rule_of(transitions(following, ended)).believed
    not_told = np.where(ended[:, None], following, following + 1.0)
    assert not rule_of(transitions(following, ended, not_told)).believed


def test_many_numbers_and_numbers_that_never_vary():
    rng = np.random.default_rng(3)
    following = rng.normal(size=(300, WIDE + 8))
    following[:, 0] = 7.0
    rule = rule_of(transitions(following, following[:, 1] > 1.5))
    assert rule.believed and rule.square.shape == (WIDE + 8,) * 2
    assert not rule.line[0] and not rule.square[0].any()
    off_diagonal = np.asarray(rule.square)[~np.eye(WIDE + 8, dtype=bool)]
    assert not off_diagonal.any()
    assert no_rule(WIDE + 8).square.shape == rule.square.shape
