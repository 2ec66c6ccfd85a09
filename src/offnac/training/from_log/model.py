"""A model of the task, learned from the log: what follows a state and an action.

It carries a policy some steps beyond what was recorded, to states that π visits and μ did not. There a
value fitted to the log alone is a guess, and the actor climbs towards guesses that are too high; how a
task moves is simpler than what it is worth, and can be guessed better.
"""

from functools import partial
from threading import Event
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.critics.cautious import mixed
from offnac.errors import Stopped
from offnac.networks import MLP, Parameters, evaluate, initialise
from offnac.optimisers import Adam
from offnac.schedules import Clock, Constant, RobbinsMonro
from offnac.settings import settings, static
from offnac.training.from_log import flags
from offnac.training.from_log.data import LogData
from offnac.training.from_log.ranges import Ranges, no_ranges, of_all_kinds, seen, straight
from offnac.training.progress import Fitting
from offnac.training.threads import over_threads
from offnac.transition import Transition

SPREAD = (-5.0, 1.5)
"""The least and the greatest log SD of a change, in units of its SD in the log."""
BATCHES = 128
"""Drawn at a time."""
BEYOND = 0.05
"""How far the model goes beyond what the log holds of a number, as a share of its range."""
SEED = 0
MADE_UP = 0x0DD5
"""Sets the random numbers of made-up states apart."""


class Parts(NamedTuple):
    """One thing for each of a member's networks."""

    change: Any
    """(s, a) → s′ − s beside its straight part, mean and log SD, in units of its SD; of a flag the log odds
    in place of the mean."""
    end: Any
    """(s, a) → the log odds that the task ends, and the reward if it does."""
    reward: Any
    """(s, a) → the reward if it goes on, beside what the action earns in the mean."""


class Learner(NamedTuple):
    """A member that is being fitted."""

    psi: Parts
    optimiser: Any
    steps: Int[Array, ""]


class ModelState(NamedTuple):
    psi: Parts
    """The members', stacked."""
    ranges: Ranges

    def members(self) -> list[Parts]:
        leaves, shape = jax.tree.flatten(self.psi)
        return [jax.tree.unflatten(shape, one) for one in zip(*leaves, strict=True)]


class Outcome(NamedTuple):
    reward: Float[Array, " n"]
    next_observation: Float[Array, "n d"]
    terminated: Bool[Array, " n"]
    left: Bool[Array, " n"]
    """Where it left what the log holds: what would come then is not known."""


@settings
class Model:
    """``members`` sets of networks, each fitted with Adam to rows of its own drawing."""

    actions: int = static()
    members: int = static(default=2)
    hidden: tuple[int, ...] = static(default=(128, 128))
    """Of the network for the change; the others are half as wide."""
    batch: int = static(default=256)
    rate: float = 6e-3
    share: float = 0.5
    """The part of the rows that is drawn from all kinds alike."""
    decay: float = 0.01
    """Of the networks for the change, towards none beside the straight part, in units of the rate."""
    calm: float | None = None
    """How much it counts that made-up states go on, whose numbers come from different rows: the log must tell
    of an end before one is foreseen."""
    ends_by_flags: bool = static(default=True)
    """Whether ends are foreseen by flags too, or by the other numbers alone: flags are few, and stand for
    what they were seen with. Who only ever touched the ground hard takes the touch for the crash."""
    passes: float = 16.0
    """How often it looks at each row of the log, as far as that takes as many steps as these."""
    least: int = 1000
    most: int = 8000

    def networks(self, size: int) -> Parts:
        half = tuple(-(-width // 2) for width in self.hidden)
        known = 2 * size + self.actions
        return Parts(
            MLP(known, self.hidden, 2 * size, activation="silu", initialisation="zero"),
            MLP(known, half, 2, activation="silu"),
            MLP(known, half, 1, activation="silu"),
        )

    def first(self, size: int, key: PRNGKeyArray) -> Parts:
        """A member before it has seen anything."""
        networks = self.networks(size)
        return Parts(*(initialise(one, jax.random.fold_in(key, i)) for i, one in enumerate(networks)))

    def learn(self, learner: Learner, ranges: Ranges, rows: Transition, count: int, steps: int) -> Learner:
        """One step of Adam for each of ``count`` batches, of ``steps`` in all."""
        flat, unravel = ravel_pytree(learner.psi)
        networks = self.networks(ranges.low.size)
        rate = RobbinsMonro(self.rate, 1.0, steps / 10.0)
        adam, decay = Adam(rate), self.decay * ravel_pytree(_only_change(learner.psi))[0]

        def step(i: Int[Array, ""], carry: tuple[Parameters, Any]) -> tuple[Parameters, Any]:
            psi, optimiser = carry
            batch, number = jax.tree.map(lambda column: column[i], rows), learner.steps + i
            gradient = jax.grad(lambda psi: self.loss(networks, unravel(psi), ranges, batch, number))(psi)
            clock = Clock.start()._replace(step=number)
            optimiser, move = adam.update(optimiser, -gradient, clock)
            return psi + move - rate(clock) * decay * psi, optimiser

        flat, optimiser = jax.lax.fori_loop(0, count, step, (flat, learner.optimiser))
        return Learner(unravel(flat), optimiser, learner.steps + count)

    def loss(
        self, networks: Parts, psi: Parts, ranges: Ranges, batch: Transition, number: Int[Array, ""]
    ) -> Float[Array, ""]:
        shown = self.known(ranges, batch.observation, batch.action)
        moved = (batch.next_observation - batch.observation) / ranges.step
        mean, log_sd = change(evaluate(networks.change, psi.change, shown))
        mean = mean + straight(ranges, batch.observation, batch.action)
        odds, last = self.ends(networks, psi, ranges, shown)
        going_on = evaluate(networks.reward, psi.reward, shown)[:, 0]
        sd, last_mean, last_sd = ranges.reward
        earned = (batch.reward - ranges.price[batch.action]) / sd
        told = (batch.reward - last_mean) / last_sd
        missed = jnp.where(batch.terminated, last - told, going_on - earned) ** 2
        ended = optax.sigmoid_binary_cross_entropy(odds, batch.terminated.astype(odds.dtype))
        # The likelihood, weighted by the SD: else what is nearly certain would take all the attention.
        surprise = 0.5 * ((mean - moved) * jnp.exp(-log_sd)) ** 2 + log_sd
        surprise = jax.lax.stop_gradient(jnp.exp(log_sd)) * surprise
        high = (batch.next_observation > 0.5 * (ranges.low + ranges.high)).astype(mean.dtype)
        changed = jnp.sum(jnp.where(ranges.flag, flags.surprise(mean, high, ranges.group), surprise), axis=1)
        # Where the task ended nobody asks what came after.
        loss = jnp.mean(batch.continues * changed + missed + ended)
        if self.calm is None:
            return loss
        key = jax.random.fold_in(jax.random.key(MADE_UP), number)
        made_up = self.known(ranges, *_made_up(ranges, batch, key))
        return loss + self.calm * jnp.mean(jax.nn.softplus(self.ends(networks, psi, ranges, made_up)[0]))

    def ends(
        self, networks: Parts, psi: Parts, ranges: Ranges, shown: Float[Array, "n k"]
    ) -> Float[Array, "2 n"]:
        """The log odds that the task ends, and the reward if it does."""
        if not self.ends_by_flags:
            hidden = jnp.concatenate([ranges.flag, ranges.flag, jnp.zeros(self.actions, bool)])
            shown = jnp.where(hidden, 0.0, shown)
        return evaluate(networks.end, psi.end, shown).T

    def known(
        self, ranges: Ranges, observation: Float[Array, "n d"], action: Int[Array, " n"]
    ) -> Float[Array, "n k"]:
        chosen = jax.nn.one_hot(action, self.actions, dtype=observation.dtype)
        return jnp.concatenate([seen(ranges.zero, observation), chosen], axis=1)

    def predict(
        self,
        state: ModelState,
        observation: Float[Array, "members n d"],
        action: Int[Array, "members n"],
        key: PRNGKeyArray,
    ) -> Outcome:
        """What follows, each member's opinion of states of its own; what that earns is their common one, for
        its errors add up."""
        # One by one: on a CPU many small matrix products at once are slower than each on its own.
        members = state.members()
        given = zip(members, observation, action, jax.random.split(key, self.members), strict=True)
        outcomes = [self._outcome(state.ranges, members, *member) for member in given]
        return Outcome(*(jnp.stack(parts) for parts in zip(*outcomes, strict=True)))

    def _outcome(
        self,
        ranges: Ranges,
        members: list[Parts],
        psi: Parts,
        observation: Float[Array, "n d"],
        action: Int[Array, " n"],
        key: PRNGKeyArray,
    ) -> Outcome:
        networks = self.networks(observation.shape[1])
        end_key, flag_key, noise_key = jax.random.split(key, 3)
        shown = self.known(ranges, observation, action)
        mean, log_sd = change(evaluate(networks.change, psi.change, shown))
        mean = mean + straight(ranges, observation, action)
        tossed = jnp.where(flags.toss(mean, ranges.group, flag_key), ranges.high, ranges.low)
        noisy = mean + jnp.exp(log_sd) * jax.random.normal(noise_key, mean.shape)
        free, room = observation + ranges.step * noisy, BEYOND * (ranges.high - ranges.low)
        following = jnp.clip(free, ranges.low - room, ranges.high + room)
        left = jnp.any((free != following) & ~ranges.flag, axis=1)
        following = jnp.where(ranges.flag, tossed, following)
        odds, last = self.ends(networks, psi, ranges, shown)
        odds = jnp.where(ranges.rule.believed, ranges.rule.odds(following), odds)
        going_on = jnp.mean(
            jnp.stack([evaluate(networks.reward, one.reward, shown)[:, 0] for one in members]), 0
        )
        terminated = jax.random.uniform(end_key, odds.shape) < jax.nn.sigmoid(odds)
        sd, last_mean, last_sd = ranges.reward
        reward = jnp.where(terminated, last_mean + last_sd * last, ranges.price[action] + sd * going_on)
        return Outcome(reward, following, terminated, left)


def _made_up(
    ranges: Ranges, batch: Transition, key: PRNGKeyArray
) -> tuple[Float[Array, "m d"], Int[Array, " m"]]:
    """States that nobody has seen, half as many as rows: each number from another row, flags tossed."""
    some = mixed(batch.observation)[: -(-len(batch.action) // 2)]
    high = flags.toss(jnp.zeros_like(some), ranges.group, key)
    some = jnp.where(ranges.flag, jnp.where(high, ranges.high, ranges.low), some)
    return some, batch.action[-len(some) :]


def _only_change(psi: Parts) -> Parts:
    """1 for the parameters of the change, 0 for the others."""
    return Parts(jnp.ones_like(psi.change), jnp.zeros_like(psi.end), jnp.zeros_like(psi.reward))


def change(said: Float[Array, "n k"]) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
    """Mean and log SD of the change, in its units."""
    mean, spread = jnp.split(said, 2, axis=1)
    return mean, SPREAD[0] + (SPREAD[1] - SPREAD[0]) * jax.nn.sigmoid(spread)


def fit(model: Model, data: LogData, ranges: Ranges, modelled: Fitting, stop: Event) -> ModelState:
    """The model of a log; always the same one, so that a run that goes on needs not keep it.

    Each member by a thread of its own. It is shown batches drawn from the log, never the log: so one
    program serves logs of every size."""
    data = of_all_kinds(data, ranges)
    steps = int(min(max(model.passes * int(data.size) / model.batch, model.least), model.most))
    keys = jax.random.split(jax.random.key(SEED), model.members)
    done = [0] * model.members

    def begin(i: int) -> Learner:
        first = _first(model, data.rows.observation.shape[1], keys[i])
        return Learner(first, Adam(Constant(model.rate)).init(ravel_pytree(first)[0]), jnp.int32(0))

    def more(i: int, learner: Learner, start: int, count: int) -> Learner:
        rows = _draw(model, data, jax.random.fold_in(keys[i], start))
        return _learn(model, learner, ranges, rows, count, steps)

    def member(i: int) -> Parts:
        learner = begun[i]
        for start in range(0, steps, BATCHES):
            if stop.is_set():
                raise Stopped
            count = min(BATCHES, steps - start)
            learner = jax.block_until_ready(more(i, learner, start, count))
            done[i] += count
            modelled(sum(done), steps * model.members)
        return learner.psi

    begun = [begin(i) for i in range(model.members)]
    more(0, begun[0], 0, 0)  # compiles once what every thread would compile for itself
    members = over_threads(member, range(model.members), model.members, stop)
    return ModelState(jax.tree.map(lambda *leaves: jnp.stack(leaves), *members), ranges)


def blank(model: Model, size: int) -> ModelState:
    """Room for a model of so many numbers."""
    first = model.first(size, jax.random.key(SEED))
    members = jax.tree.map(lambda leaf: jnp.zeros((model.members, *leaf.shape), leaf.dtype), first)
    return ModelState(members, no_ranges(size, model.actions))


@partial(jax.jit, static_argnames="size")
def _first(model: Model, size: int, key: PRNGKeyArray) -> Parts:
    return model.first(size, key)


@jax.jit
def _draw(model: Model, data: LogData, key: PRNGKeyArray) -> Transition:
    rows = data.draw(BATCHES * model.batch, model.share, key)
    return jax.tree.map(lambda column: column.reshape(BATCHES, model.batch, *column.shape[1:]), rows)


@jax.jit
def _learn(
    model: Model, learner: Learner, ranges: Ranges, rows: Transition, count: int, steps: int
) -> Learner:
    return model.learn(learner, ranges, rows, count, steps)
