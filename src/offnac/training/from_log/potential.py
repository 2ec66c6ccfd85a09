"""What rewards are shaped by: a potential f, learned from the log, for r ≈ b(a) + f(s′) − f(s).

Rewards are often progress: what a state is worth after a step less what it was worth before. Such rewards
are large, and cancel along the way; a critic that must find V amid them sees little else. V + f changes
slowly where V does not. So learning takes the potential out: r − γ c f(s′) + f(s) has the same policies, the
same advantages, and V + f for its values (Ng, Harada and Russell 1999), whatever f is; a poor one costs
nothing but its benefit.
"""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.errors import Stopped
from offnac.logs.log import Log
from offnac.networks import MLP, Parameters, evaluate, initialise
from offnac.networks import size as network_size
from offnac.optimisers import Adam
from offnac.schedules import Clock, Cosine
from offnac.training.from_log.data import LogData, load
from offnac.training.from_log.ranges import Ranges, of_all_kinds, ranges_of, seen
from offnac.training.from_log.units import Units
from offnac.training.progress import Fitting
from offnac.transition import Transition

HIDDEN = (64, 64)
BATCH = 1024
PASSES, LEAST, MOST = 40.0, 300, 20_000
"""How often it looks at each row of the log, as far as that takes as many steps as these."""
ROWS = 1 << 20
"""Rows of a log that it is found in."""
HORIZON = 100.0
"""Steps before an end that count as telling ones."""
SHAPED = 0.05
"""The part of the rewards' variance that may be left where they count as shaped."""
SHARE = 0.5
"""The part of the rows that is drawn from all kinds alike."""
RATE = 6e-3
ALIKE = 1e-3
"""By how much of the largest one rewards may differ that count as one and the same."""
AT_A_TIME = 1000
SEED = 0x907E
PIECE = 1 << 18
"""Rows that f is computed of at a time."""


class Potential(NamedTuple):
    psi: Parameters
    zero: Float[Array, " d"]
    """What 0 is in the log's units."""
    unit: Float[Array, ""]
    level: Float[Array, ""]
    """Of the network at the initial states, so that f is 0 there in the mean: V + f is worth what V is."""
    price: Float[Array, " actions"]
    """b, what each action earns by itself."""
    left: Float[Array, ""]
    """The part of the rewards' variance that neither it nor the action explains, in held-out episodes."""

    @property
    def shaped(self) -> bool:
        """Whether rewards are progress, and little else."""
        return float(self.left) < SHAPED

    def __call__(self, observation: Float[Array, "n d"]) -> Float[Array, " n"]:
        """f, in the currency of the rewards."""
        return self.unit * (_network(self.psi, self.zero, observation) - self.level)

    def taken_out(self, rows: Transition) -> Transition:
        """The rows without f(s′) − f(s) in their rewards: what a model is to foresee."""
        progress = self(rows.next_observation) - self(rows.observation)
        return rows._replace(reward=rows.reward - rows.continues * progress)

    def as_learned(self, rows: Transition, gamma: float) -> Transition:
        """Recorded rows, as they are learned from."""
        return self.discounted(self.taken_out(rows), gamma)

    def discounted(self, rows: Transition, gamma: float) -> Transition:
        """Such rows, as they are learned from: where γ < 1, f(s′) counts less than f(s), and not at all where
        the task ends."""
        kept = (1.0 - gamma) * self(rows.next_observation)
        given = jnp.where(rows.continues > 0, kept, self(rows.observation))
        return rows._replace(reward=rows.reward + given)


def _mlp(size: int) -> MLP:
    return MLP(2 * size, HIDDEN, 1, activation="silu")


def _network(
    psi: Parameters, zero: Float[Array, " d"], observation: Float[Array, "n d"]
) -> Float[Array, " n"]:
    return evaluate(_mlp(zero.size), psi, seen(zero, observation))[:, 0]


def blank(size: int, actions: int) -> Potential:
    """No potential at all."""
    psi, one, nothing = jnp.zeros(network_size(_mlp(size))), jnp.ones(()), jnp.zeros(())
    return Potential(psi, jnp.zeros(size), one, nothing, jnp.zeros(actions), one)


def find(log: Log, held_out: Log, units: Units, fitted: Fitting, stop: Event) -> Potential:
    """The potential of a log; 0 where rewards before the end differ by the action alone."""
    if not _differ(log):
        return blank(len(units.mean), log.spec.actions)._replace(zero=jnp.asarray(-units.mean / units.scale))
    data = load(log.keep(np.arange(len(log)) < ROWS), units, HORIZON)
    ranges = ranges_of(data, units, log.spec.actions, line=False)
    data = of_all_kinds(data, ranges)
    unit, key = ranges.reward[0], jax.random.key(SEED)
    psi = initialise(_mlp(len(ranges.zero)), key)
    found = jnp.concatenate([psi, jnp.zeros(log.spec.actions)])
    steps = int(min(max(PASSES * int(data.size) / BATCH, LEAST), MOST))
    optimiser = _adam(steps).init(found)
    for start in range(0, steps, AT_A_TIME):
        if stop.is_set():
            raise Stopped
        end = min(start + AT_A_TIME, steps)
        found, optimiser = jax.block_until_ready(
            _learn(data, ranges, found, optimiser, start, end, steps, key)
        )
        fitted(end, steps)
    psi, price = jnp.split(found, [len(psi)])
    level = jnp.mean(_network(psi, ranges.zero, data.starts[: int(data.starts_size)]))
    potential = Potential(psi, ranges.zero, unit, level, ranges.price + unit * price, jnp.ones(()))
    return potential._replace(left=jnp.float32(_left(potential, held_out, units)))


def _differ(log: Log) -> bool:
    """Whether rewards before the end say more than which action was taken."""
    goes_on = ~log.rows.terminated
    reward, action = log.rows.reward[goes_on], log.rows.action[goes_on]
    taken = [reward[action == one] for one in np.unique(action)]
    return any(np.ptp(one) > ALIKE * np.abs(reward).max() for one in taken)


def _left(found: Potential, held_out: Log, units: Units) -> float:
    """What is left of the variance in some held-out episodes."""
    data = load(held_out.keep(np.arange(len(held_out)) < ROWS), units, HORIZON)
    goes_on = ~np.asarray(data.rows.terminated) & (np.arange(len(data.rows.action)) < int(data.size))
    reward = np.asarray(data.rows.reward, np.float64)[goes_on]
    rest = np.asarray(over_rows(data, found.taken_out).rows.reward, np.float64)[goes_on]
    action = np.asarray(data.rows.action)[goes_on]
    if not len(reward) or not reward.var():
        return 1.0
    for taken in np.unique(action):
        rest[action == taken] -= rest[action == taken].mean()
    return float(rest.var() / reward.var())


def _adam(steps: int) -> Adam:
    return Adam(Cosine(RATE, steps))


@jax.jit
def _learn(
    data: LogData,
    ranges: Ranges,
    found: Float[Array, " k"],
    optimiser: Any,
    start: int,
    end: int,
    steps: int,
    key: PRNGKeyArray,
) -> tuple[Float[Array, " k"], Any]:
    """Some steps of Adam for ψ and, behind it, the actions' prices."""
    adam, actions = _adam(steps), len(ranges.price)

    def loss(found: Array, rows: Transition) -> Float[Array, ""]:
        psi, price = jnp.split(found, [len(found) - actions])
        f = partial(_network, psi, ranges.zero)
        said = price[rows.action] + f(rows.next_observation) - f(rows.observation)
        earned = (rows.reward - ranges.price[rows.action]) / ranges.reward[0]
        return jnp.mean(rows.continues * (earned - said) ** 2)

    def step(i: Array, carry: tuple[Array, Any]) -> tuple[Array, Any]:
        found, optimiser = carry
        rows = data.draw(BATCH, SHARE, jax.random.fold_in(key, i))
        gradient = jax.grad(loss)(found, rows)
        optimiser, move = adam.update(optimiser, -gradient, Clock.start()._replace(step=i))
        return found + move, optimiser

    return jax.lax.fori_loop(start, end, step, (found, optimiser))


def over_rows(data: LogData, change: Callable[[Transition], Transition]) -> LogData:
    """The log with its rewards changed, some rows at a time: there may be millions."""
    changed = jax.jit(lambda rows: change(rows).reward)

    def piece(first: int) -> Array:
        return changed(jax.tree.map(lambda column: column[first : first + PIECE], data.rows))

    pieces = [piece(first) for first in range(0, len(data.rows.action), PIECE)]
    return data._replace(rows=data.rows._replace(reward=jnp.concatenate(pieces)))
