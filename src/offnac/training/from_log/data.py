"""A log as the arrays that a compiled program draws from."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from offnac.logs.log import Log
from offnac.logs.padding import padded
from offnac.training.from_log.units import Units
from offnac.transition import Transition

STARTS = 256
"""Initial states drawn at a time."""
MOST_STARTS = 1 << 16
"""Initial states kept."""


class LogData(NamedTuple):
    rows: Transition
    size: Int[Array, ""]
    """Rows that are there; those behind them are padding."""
    telling: Int[Array, " n"]
    """Rows from which something worth knowing followed soon, by their numbers."""
    telling_size: Int[Array, ""]
    starts: Float[Array, "m d"]
    starts_size: Int[Array, ""]

    def draw(self, rows: int, share: float, key: PRNGKeyArray) -> Transition:
        return self.take(self.numbers(rows, share, key))

    def numbers(self, rows: int, share: float, key: PRNGKeyArray) -> Int[Array, " rows"]:
        """Rows drawn with replacement, by their numbers: a ``share`` of them from the telling ones, the rest
        from all alike.

        Where ends and rewards are rare, few rows of an even draw would tell one action from another.
        The ratio is taken against whatever distribution the rows come from, so it corrects this too.
        """
        any_key, telling_key, which_key = jax.random.split(key, 3)
        any_ = jax.random.randint(any_key, (rows,), 0, self.size)
        telling = self.telling[jax.random.randint(telling_key, (rows,), 0, self.telling_size)]
        return jnp.where(jax.random.uniform(which_key, (rows,)) < share, telling, any_)

    def take(self, numbers: Int[Array, " rows"]) -> Transition:
        return jax.tree.map(lambda column: column[numbers], self.rows)

    def initial(self, key: PRNGKeyArray) -> Float[Array, "m d"]:
        """Draws of s₀ ~ d₀."""
        return self.first(STARTS, key)

    def first(self, count: int, key: PRNGKeyArray) -> Float[Array, "count d"]:
        """So many of them."""
        return self.starts[jax.random.randint(key, (count,), 0, self.starts_size)]


def load(log: Log, units: Units, horizon: float) -> LogData:
    """The log in its units, on the device."""
    observation: Any = scaled(log.rows.observation, units)
    following: Any = scaled(log.rows.next_observation, units)
    starts = observation[log.starts[:MOST_STARTS]]
    rows = log.rows._replace(observation=observation, next_observation=following)
    telling = telling_rows(log, horizon)
    if not len(telling):
        telling = np.arange(len(log), dtype=np.int32)
    return LogData(
        rows=Transition(*(jnp.asarray(padded(np.asarray(column))) for column in rows)),
        size=jnp.int32(len(log)),
        telling=jnp.asarray(padded(telling)),
        telling_size=jnp.int32(len(telling)),
        starts=jnp.asarray(padded(starts)),
        starts_size=jnp.int32(len(starts)),
    )


def scaled(observation: Any, units: Units) -> NDArray[np.float32]:
    return (np.asarray(observation, np.float32) - units.mean) / units.scale


def telling_rows(log: Log, horizon: float) -> NDArray[np.int32]:
    """The rows at most ``horizon`` steps before the task ended or a reward unlike the usual one came."""
    reward, rows = np.asarray(log.rows.reward), len(log)
    event = np.asarray(log.rows.terminated) | (reward != np.median(reward))
    number = np.arange(rows)
    # From the back: the number of the next event at or after each row.
    following = np.minimum.accumulate(np.where(event, number, rows)[::-1])[::-1]
    ahead = np.minimum(following, rows - 1)
    near = (following < rows) & (log.episode[ahead] == log.episode) & (following - number < horizon)
    return np.flatnonzero(near).astype(np.int32)
