"""An episode under way on the chip, and one step of it."""

import functools
import operator
from enum import IntEnum
from math import log
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from offnac.environments.gymnax import GymnaxEnvironment, constants
from offnac.training.on_chip.networks import Acting, Number, Vector, vector, width
from offnac.training.on_chip.numbers import Word, Words, stream, uniform
from offnac.training.on_chip.tasks import TASKS
from offnac.transition import Played

Numbers = tuple[Number, ...]

FIRST_ACTION = 8
"""Numbers below this one are for s₀."""


class Purpose(IntEnum):
    """What an episode is played for: each draws numbers of its own."""

    RATIOS = 0
    TRAIN = 1
    EVALUATE = 2


class Moment(NamedTuple):
    numbers: Word
    """Where the episode's random numbers begin."""
    state: Numbers
    s: Vector
    """The observation, padded with zeros."""
    step: Int[Array, ""]
    total: Number
    surprise: Number


class Outcome(NamedTuple):
    """What a step led to."""

    moment: Moment
    reward: Number
    terminated: Bool[Array, ""]
    done: Bool[Array, ""]


def begin(environment: GymnaxEnvironment, key: Words, episode: Int[Array, ""], purpose: Purpose) -> Moment:
    rules, numbers = TASKS[environment.name], stream(key, episode, purpose)
    state = rules.start(constants(environment.name), lambda i: uniform(numbers, i))
    zero = 0.0 * state[0]  # a literal could not leave a branch of a kernel
    return Moment(numbers, state, _padded(environment, state), zero.astype(jnp.int32), zero, zero)


def advance(
    environment: GymnaxEnvironment, moment: Moment, action: Int[Array, ""], prob: Number | float
) -> Outcome:
    """One step; ``prob`` is the behaviour's probability of the action."""
    rules = TASKS[environment.name]
    state, reward, terminated = rules.step(constants(environment.name), moment.state, action)
    step = moment.step + 1
    surprise = moment.surprise - jnp.log(prob) / log(environment.spec.actions)
    s = _padded(environment, state)
    after = Moment(moment.numbers, state, s, step, moment.total + reward, surprise)
    return Outcome(after, reward, terminated, terminated | (step >= environment.max_steps))


def _padded(environment: GymnaxEnvironment, state: Numbers) -> Vector:
    return vector(TASKS[environment.name].observe(state), width(environment.spec.observation_size))


def one(environment: GymnaxEnvironment) -> Vector:
    """A one in the place after the observation."""
    size = environment.spec.observation_size
    return vector((jnp.float32(1.0),), width(size), size)


def played(last: Moment) -> Played:
    return Played(last.total, last.step, last.surprise)


def draw(moment: Moment) -> Number:
    """The number that decides about the action."""
    return uniform(moment.numbers, moment.step + FIRST_ACTION)


def choose(moment: Moment, acting: Acting, actions: int) -> Int[Array, ""]:
    """a ~ π(·|s)."""
    index, number = jax.lax.broadcasted_iota(jnp.int32, acting.pi.shape, 0), draw(moment)
    below = [jnp.sum(jnp.where(index <= a, acting.pi, 0.0)) for a in range(actions - 1)]
    return functools.reduce(operator.add, [(number >= share).astype(jnp.int32) for share in below])


def choose_evenly(moment: Moment, actions: int) -> Int[Array, ""]:
    return (draw(moment) * actions).astype(jnp.int32)


def one_hot(acting: Acting, action: Int[Array, ""]) -> Vector:
    return (jax.lax.broadcasted_iota(jnp.int32, acting.pi.shape, 0) == action).astype(jnp.float32)
