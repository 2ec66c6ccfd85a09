"""When a task ends: a step beyond an edge, and never while one stands still."""

from threading import Event

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.logs.log import Log
from offnac.training.from_log import ends
from offnac.training.from_log.data import load
from offnac.training.from_log.ranges import ranges_of
from offnac.training.from_log.units import units
from offnac.transition import Spec, Transition

pytestmark = pytest.mark.optimised


def test_ends_are_foreseen_with_their_rewards():
    rng, rows = np.random.default_rng(0), 6000
    place = rng.uniform(-1.0, 1.0, (rows, 2)).astype(np.float32)
    action = rng.integers(2, size=rows).astype(np.int32)
    # Action 1 is a step to the right, which ends the task beyond 0.8; action 0 stands still.
    ended = (action == 1) & (place[:, 0] > 0.8)
    following = place + np.stack([0.1 * action, 0 * action], axis=1).astype(np.float32)
    log = Log(
        Spec("", 2, 2),
        Transition(
            place,
            action,
            np.where(ended, -5.0 - place[:, 1], 0.0).astype(np.float32),
            following,
            ended,
            ~ended,
            np.full(rows, 0.5, np.float32),
            np.zeros(rows, np.int32),
        ),
        np.arange(rows),
    )
    scale = units(log)
    data = load(log, scale, horizon=10)
    ranges = ranges_of(data, scale, 2)
    found = ends.fit(data, ranges, Event())
    asked = jnp.asarray((np.array([[0.5, 0.0], [0.95, 0.5], [0.95, 0.5]]) - scale.mean) / scale.scale)
    odds, last = found(ranges, asked, jnp.array([1, 0, 1]))
    chance = np.asarray(jax.nn.sigmoid(odds))
    assert chance[0] < 1e-2 and chance[1] < 1e-3 and chance[2] > 0.9
    reward = float(ranges.reward[1] + ranges.reward[2] * last[2])
    assert reward == pytest.approx(-5.5, abs=0.2)
