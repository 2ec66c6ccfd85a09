"""What a log holds of each number, how it moves on the whole, rows of all kinds: where a model begins."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray

from offnac.training.from_log import flags
from offnac.training.from_log.data import LogData
from offnac.training.from_log.rule import Rule, no_rule, rule_of
from offnac.training.from_log.units import Units
from offnac.transition import Transition

MOST_ROWS, WIDE = 1 << 18, 8
"""That the straight part is fitted to, of so many numbers; of more numbers fewer rows."""
RIDGE = 1e-8
REWEIGHTED = 12
"""How often the rows of the straight part are weighed anew."""
TAIL, CLOSE = 4.5, 1e-4
"""What is far from it: so many median errors, and at least so much, in SDs of the change."""
NEAR = 0.02
"""What is near to 0, in SDs."""


class Ranges(NamedTuple):
    """What the log holds of each number: the model says nothing far beyond it."""

    zero: Float[Array, " d"]
    """What 0 is in the log's units."""
    low: Float[Array, " d"]
    high: Float[Array, " d"]
    flag: Bool[Array, " d"]
    """Where there are only the two values ``low`` and ``high``."""
    group: Int[Array, " d"]
    """The first column of those that it is one of a kind with; its own number where it is alone."""
    step: Float[Array, " d"]
    """The SD of s′ − s."""
    straight: Float[Array, "actions k d"]
    """s′ − s as a linear function of s and 1, for each action, in units of ``step``."""
    price: Float[Array, " actions"]
    """What each action earns in the mean where the task goes on."""
    reward: Float[Array, " 3"]
    """The SD of the rewards around that, and mean and SD of those with which the task ends."""
    rule: Rule
    """By which the task ends, if there is one."""


def no_ranges(size: int, actions: int) -> Ranges:
    """Room for them."""
    none, never = jnp.zeros(size), jnp.zeros(size, bool)
    number = jnp.zeros(size, jnp.int32)
    straight = jnp.zeros((actions, size + 1, size))
    return Ranges(
        none, none, none, never, number, none, straight, jnp.zeros(actions), jnp.zeros(3), no_rule(size)
    )


def ranges_of(data: LogData, units: Units, actions: int, line: bool = True) -> Ranges:
    """Of the rows that are there; without the ``line`` nothing is said of how things move and end."""
    rows = jax.tree.map(lambda column: np.asarray(column[: int(data.size)]), data.rows)
    states: Any = np.concatenate([rows.observation, rows.next_observation])
    low, high = states.min(axis=0), states.max(axis=0)
    flag = ((states == low) | (states == high)).all(axis=0)
    moved = (rows.next_observation - rows.observation)[~rows.terminated]
    step = moved.std(axis=0, dtype=np.float64) if len(moved) else np.ones(states.shape[1])
    step = np.maximum(step, 1e-6)
    found = Ranges(
        jnp.asarray(-units.mean / units.scale),
        jnp.asarray(low),
        jnp.asarray(high),
        jnp.asarray(flag),
        jnp.asarray(flags.groups(states == high, flag & (low < high))),
        jnp.asarray(step, jnp.float32),
        jnp.asarray(_straight(rows, actions, step, ~flag & line), jnp.float32),
        jnp.zeros(actions),
        jnp.ones(3),
        rule_of(rows) if line else no_rule(len(step)),
    )
    return of_rewards(found, data)


def of_rewards(ranges: Ranges, data: LogData) -> Ranges:
    """The same for rewards that have been changed."""
    size, actions = int(data.size), len(ranges.price)
    reward, ended, action = (
        np.asarray(column[:size]) for column in (data.rows.reward, data.rows.terminated, data.rows.action)
    )
    taken = [reward[~ended & (action == a)] for a in range(actions)]
    usual = reward[~ended].mean(dtype=np.float64) if (~ended).any() else 0.0
    price = np.array([one.mean(dtype=np.float64) if len(one) else usual for one in taken])
    _, sd = _mean_and_sd((reward - price[action])[~ended])
    sd = max(sd, 1e-3 * float(np.abs(price).max()))
    return ranges._replace(
        price=jnp.asarray(price, jnp.float32),
        reward=jnp.asarray([sd, *_mean_and_sd(reward[ended])], jnp.float32),
    )


def _straight(rows: Transition, actions: int, step: NDArray[Any], wanted: NDArray[np.bool_]) -> NDArray[Any]:
    """Regression of s′ − s on s and 1 for each action; 0 for one that was never taken, and for numbers that
    are not ``wanted``. Robust (Cauchy's weights), so that it is how most rows move, and not a compromise with
    the few that hit something."""
    every = -(-len(rows.action) * max(WIDE, len(step)) // (MOST_ROWS * WIDE))
    some: Any = jax.tree.map(lambda column: column[::every], rows)
    known = np.concatenate([some.observation, np.ones((len(some.action), 1))], axis=1, dtype=np.float64)
    moved = (some.next_observation - some.observation) / step

    def of(action: int) -> NDArray[Any]:
        taken, lines = ~some.terminated & (some.action == action), np.zeros((len(step) + 1, len(step)))
        for number in np.flatnonzero(wanted):
            lines[:, number] = _line(known[taken], moved[taken, number])
        return lines

    return np.stack([of(action) for action in range(actions)])


def _line(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """y as a linear function of x, by iteratively reweighted ridge regression."""
    weight, line = np.ones(len(x)), np.zeros(x.shape[1])
    for _ in range(REWEIGHTED if len(x) else 0):
        weighted = x * weight[:, None]
        ridge = RIDGE * (weight.sum() + 1.0) * np.eye(x.shape[1])
        line = np.linalg.solve(weighted.T @ x + ridge, weighted.T @ y)
        missed = np.abs(y - x @ line)
        weight = 1.0 / (1.0 + (missed / max(TAIL * np.median(missed), CLOSE)) ** 2)
    return line


def _mean_and_sd(rewards: Any) -> tuple[float, float]:
    if not len(rewards):
        return 0.0, 1.0
    mean = float(rewards.mean(dtype=np.float64))
    return mean, max(float(rewards.std(dtype=np.float64)), 1e-3 * abs(mean), 1e-6)


def seen(zero: Float[Array, " d"], observation: Float[Array, "n d"]) -> Float[Array, "n k"]:
    """What networks are shown of a state: its numbers, and each of them once more with what lies around 0
    drawn apart. To stand still or not, to touch or not, is often a matter of little."""
    return jnp.concatenate([observation, jnp.arcsinh((observation - zero) / NEAR) / 3.0], axis=1)


def straight(
    ranges: Ranges, observation: Float[Array, "n d"], action: Int[Array, " n"]
) -> Float[Array, "n d"]:
    """The straight part of the change. Most of how things move is simple, and a line goes on beyond the log
    as a network does not."""
    known = jnp.concatenate([observation, jnp.ones_like(observation[:, :1])], axis=1)
    every = jnp.einsum("ni,aij->anj", known, ranges.straight)
    return jnp.take_along_axis(every, action[None, :, None], axis=0)[0]


def of_all_kinds(data: LogData, ranges: Ranges) -> LogData:
    """The log with other telling rows: as many of each kind, by their flags and by whether they are telling.
    π may live where μ hardly ever was, and what follows (s, a) does not depend on how often s was seen."""
    size = int(data.size)
    told = np.zeros((size, 1), bool)
    told[np.asarray(data.telling[: int(data.telling_size)])] = True
    states: Any = data.rows.observation[:size]
    high = np.asarray(states)[:, np.asarray(ranges.flag)] > np.asarray(ranges.low)[np.asarray(ranges.flag)]
    bits = np.packbits(np.concatenate([told, high], axis=1), axis=1)
    _, kind, count = np.unique(bits, axis=0, return_inverse=True, return_counts=True)
    weight = np.cumsum(1.0 / count[kind.ravel()])
    some = np.random.default_rng(0).uniform(0.0, weight[-1], len(data.telling))
    rows = np.minimum(np.searchsorted(weight, some), size - 1).astype(np.int32)
    return data._replace(telling=jnp.asarray(rows), telling_size=jnp.int32(len(rows)))
