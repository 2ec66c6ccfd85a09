"""A model of the task, learned from the log: what follows a state and an action.

It carries a policy some steps beyond what was recorded, to states that π visits and μ did not. There a
value fitted to the log alone is a guess, and the actor climbs towards guesses that are too high; how a
task moves is simpler than what it is worth, and can be guessed better.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.networks import MLP, Parameters, evaluate, initialise
from offnac.optimisers import Adam
from offnac.schedules import Clock, RobbinsMonro
from offnac.settings import settings, static
from offnac.training.from_log.data import LogData
from offnac.transition import Transition

SPREAD = (-5.0, 1.5)
"""The least and the greatest log SD of a change, in units of its SD in the log."""


class Ranges(NamedTuple):
    """What the log holds of each number: the model says nothing beyond it."""

    low: Float[Array, " d"]
    high: Float[Array, " d"]
    flag: Bool[Array, " d"]
    """Where there are only the two values ``low`` and ``high``."""
    step: Float[Array, " d"]
    """The SD of s′ − s."""
    reward: Float[Array, "2 2"]
    """Mean and SD of the rewards, of rows after which the task goes on and of those where it ends."""


class Parts(NamedTuple):
    """One thing for each of a member's networks."""

    change: Any
    """(s, a) → s′ − s, mean and log SD, in units of its SD."""
    end: Any
    """(s, a) → the log odds that the task ends, and the reward if it does."""
    reward: Any
    """(s, a) → h, for a reward h(s, a) + f(s′) − f(s) if it goes on."""
    potential: Any
    """s → f. Rewards are often shaped by a potential; as a difference its errors cannot add up."""


class ModelState(NamedTuple):
    psi: Parts
    ranges: Ranges


class Outcome(NamedTuple):
    reward: Float[Array, " n"]
    next_observation: Float[Array, "n d"]
    terminated: Bool[Array, " n"]


@settings
class Model:
    """``members`` sets of networks, each fitted with Adam to rows of its own drawing."""

    actions: int = static()
    members: int = static(default=2)
    hidden: tuple[int, ...] = static(default=(128, 128))
    """Of the network for the change; the others are half as wide."""
    batch: int = static(default=256)
    rate: float = 3e-3
    passes: float = 4.0
    """How often it looks at each row of the log, as far as that takes as many steps as these."""
    least: int = 1000
    most: int = 8000

    def networks(self, size: int) -> Parts:
        half = tuple(-(-width // 2) for width in self.hidden)
        known = size + self.actions
        return Parts(
            MLP(known, self.hidden, 2 * size, activation="relu"),
            MLP(known, half, 2, activation="relu"),
            MLP(known, half, 1, activation="relu"),
            MLP(size, half, 1, activation="relu"),
        )

    def fit(self, data: LogData, ranges: Ranges, share: float, key: PRNGKeyArray) -> ModelState:
        networks = self.networks(data.rows.observation.shape[1])
        steps: Any = jnp.clip(self.passes * data.size / self.batch, self.least, self.most).astype(int)
        adam = Adam(RobbinsMonro(self.rate, 1.0, steps / 10.0))

        def member(key: PRNGKeyArray) -> Parts:
            first = Parts(*(initialise(one, jax.random.fold_in(key, i)) for i, one in enumerate(networks)))
            flat, unravel = ravel_pytree(first)

            def step(i: Int[Array, ""], carry: tuple[Parameters, Any]) -> tuple[Parameters, Any]:
                psi, optimiser = carry
                batch = data.draw(self.batch, share, jax.random.fold_in(key, i))
                gradient = jax.grad(lambda psi: self.loss(networks, unravel(psi), ranges, batch))(psi)
                optimiser, move = adam.update(optimiser, -gradient, Clock.start()._replace(step=i))
                return psi + move, optimiser

            return unravel(jax.lax.fori_loop(0, steps, step, (flat, adam.init(flat)))[0])

        return ModelState(jax.vmap(member)(jax.random.split(key, self.members)), ranges)

    def loss(self, networks: Parts, psi: Parts, ranges: Ranges, batch: Transition) -> Float[Array, ""]:
        known = self.known(batch.observation, batch.action)
        moved = (batch.next_observation - batch.observation) / ranges.step
        mean, log_sd = change(evaluate(networks.change, psi.change, known))
        odds, last = evaluate(networks.end, psi.end, known).T
        going_on = earned(networks, psi, known, batch.observation, batch.next_observation)
        reward = (batch.reward[:, None] - ranges.reward[:, 0]) / ranges.reward[:, 1]
        missed = jnp.where(batch.terminated, last - reward[:, 1], going_on - reward[:, 0]) ** 2
        ended = optax.sigmoid_binary_cross_entropy(odds, batch.terminated.astype(odds.dtype))
        # The likelihood, weighted by the SD: else what is nearly certain would take all the attention.
        surprise = 0.5 * ((mean - moved) * jnp.exp(-log_sd)) ** 2 + log_sd
        changed = jnp.sum(jax.lax.stop_gradient(jnp.exp(log_sd)) * surprise, axis=1)
        # Where the task ended nobody asks what came after.
        return jnp.mean(batch.continues * changed + missed + ended)

    def known(self, observation: Float[Array, "n d"], action: Int[Array, " n"]) -> Float[Array, "n d_a"]:
        chosen = jax.nn.one_hot(action, self.actions, dtype=observation.dtype)
        return jnp.concatenate([observation, chosen], axis=1)

    def predict(
        self,
        state: ModelState,
        observation: Float[Array, "members n d"],
        action: Int[Array, "members n"],
        key: PRNGKeyArray,
    ) -> Outcome:
        """What follows, each member's opinion of states of its own."""
        one = partial(self._outcome, state.ranges)
        return jax.vmap(one)(state.psi, observation, action, jax.random.split(key, self.members))

    def _outcome(
        self,
        ranges: Ranges,
        psi: Parts,
        observation: Float[Array, "n d"],
        action: Int[Array, " n"],
        key: PRNGKeyArray,
    ) -> Outcome:
        networks = self.networks(observation.shape[1])
        end_key, flag_key, noise_key = jax.random.split(key, 3)
        known = self.known(observation, action)
        mean, log_sd = change(evaluate(networks.change, psi.change, known))
        odds, last = evaluate(networks.end, psi.end, known).T
        terminated = jax.random.uniform(end_key, odds.shape) < jax.nn.sigmoid(odds)
        width = jnp.maximum(ranges.high - ranges.low, jnp.finfo(mean.dtype).tiny)
        chance = (observation + ranges.step * mean - ranges.low) / width
        tossed = jnp.where(jax.random.uniform(flag_key, chance.shape) < chance, ranges.high, ranges.low)
        noisy = mean + jnp.exp(log_sd) * jax.random.normal(noise_key, mean.shape)
        following = jnp.clip(observation + ranges.step * noisy, ranges.low, ranges.high)
        following = jnp.where(ranges.flag, tossed, following)
        going_on = earned(networks, psi, known, observation, following)
        reward = ranges.reward[:, 0] + ranges.reward[:, 1] * jnp.stack([going_on, last], axis=1)
        return Outcome(jnp.where(terminated, reward[:, 1], reward[:, 0]), following, terminated)


def earned(
    networks: Parts,
    psi: Parts,
    known: Float[Array, "n d_a"],
    observation: Float[Array, "n d"],
    following: Float[Array, "n d"],
) -> Float[Array, " n"]:
    """The reward where the task goes on, in its units."""

    def f(states: Array) -> Array:
        return evaluate(networks.potential, psi.potential, states)[:, 0]

    return evaluate(networks.reward, psi.reward, known)[:, 0] + f(following) - f(observation)


def change(said: Float[Array, "n k"]) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
    """Mean and log SD of the change, in its units."""
    mean, spread = jnp.split(said, 2, axis=1)
    return mean, SPREAD[0] + (SPREAD[1] - SPREAD[0]) * jax.nn.sigmoid(spread)


def fit(model: Model, data: LogData, share: float, seed: int) -> ModelState:
    """The model of a log; always the same one, so that a run that goes on needs not keep it."""
    return _fit(model, data, ranges(data), share, jax.random.key(seed))


@jax.jit
def _fit(model: Model, data: LogData, ranges: Ranges, share: float, key: PRNGKeyArray) -> ModelState:
    return model.fit(data, ranges, share, key)


def ranges(data: LogData) -> Ranges:
    """Of the rows that are there."""
    rows = jax.tree.map(lambda column: np.asarray(column[: int(data.size)]), data.rows)
    states: Any = np.concatenate([rows.observation, rows.next_observation])
    low, high = states.min(axis=0), states.max(axis=0)
    moved = (rows.next_observation - rows.observation)[~rows.terminated]
    step = moved.std(axis=0, dtype=np.float64) if len(moved) else np.ones(states.shape[1])
    kinds = [rows.reward[~rows.terminated], rows.reward[rows.terminated]]
    return Ranges(
        jnp.asarray(low),
        jnp.asarray(high),
        jnp.asarray(((states == low) | (states == high)).all(axis=0)),
        jnp.asarray(np.maximum(step, 1e-6), jnp.float32),
        jnp.asarray([_mean_and_sd(kind) for kind in kinds], jnp.float32),
    )


def _mean_and_sd(rewards: Any) -> tuple[float, float]:
    if not len(rewards):
        return 0.0, 1.0
    mean = float(rewards.mean(dtype=np.float64))
    return mean, max(float(rewards.std(dtype=np.float64)), 1e-3 * abs(mean), 1e-6)
