"""An episode under way in a JAX-native task, and one step of it under a behaviour μ."""

from collections.abc import Callable
from functools import partial
from math import log
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.behaviour import Behaviour
from offnac.environments.environment import Environment, Observation
from offnac.transition import Played, Transition

AT_ONCE = 32
"""Steps whose random numbers are drawn together: one at a time, they cost more than the steps of a task."""

Carry = TypeVar("Carry")


class Chance(NamedTuple):
    """What is random about a step, but for the state that it is taken in."""

    behaviour: Any
    key: PRNGKeyArray
    """For the task's own numbers."""


class Episode(NamedTuple):
    environment: Any
    observation: Observation
    step: Int[Array, ""]
    total: Float[Array, ""]
    """The return so far."""
    surprise: Float[Array, ""]
    """Σ −log μ(a|s) of the actions taken, in units of the uniform behaviour's: over steps, its mean is μ's
    entropy as a share of the largest."""
    done: Bool[Array, ""]


def begin(environment: Environment, key: PRNGKeyArray) -> Episode:
    state, observation = environment.reset(key)
    return Episode(state, observation, jnp.int32(0), jnp.float32(0.0), jnp.float32(0.0), jnp.bool_(False))


def draw(environment: Environment, behaviour: Behaviour, key: PRNGKeyArray) -> Chance:
    action_key, step_key = jax.random.split(key)
    return Chance(behaviour.draw(action_key, environment.spec.actions), step_key)


def advance(
    environment: Environment, behaviour: Behaviour, episode: Episode, key: PRNGKeyArray
) -> tuple[Episode, Transition]:
    """One step of μ; the transition is a batch of one."""
    return advance_by(environment, behaviour, episode, draw(environment, behaviour, key))


def advance_by(
    environment: Environment, behaviour: Behaviour, episode: Episode, chance: Chance
) -> tuple[Episode, Transition]:
    """The same, with its random numbers given."""
    action, behaviour_prob = behaviour.choose(episode.observation, chance.behaviour)
    state, observation, reward, terminated, truncated = environment.step(
        episode.environment, action, chance.key
    )
    transition = Transition(
        episode.observation,
        action,
        reward,
        observation,
        terminated,
        truncated,
        behaviour_prob,
        episode.step,
    )
    after = Episode(
        state,
        observation,
        episode.step + 1,
        episode.total + reward,
        episode.surprise - jnp.log(behaviour_prob) / log(max(2, environment.spec.actions)),
        terminated | truncated,
    )
    return after, jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], transition)


def played(episode: Episode) -> Played:
    return Played(episode.total, episode.step, episode.surprise)


def until_done(
    body: Callable[[Carry, Chance], Carry],
    episode: Callable[[Carry], Episode],
    draw: Callable[[PRNGKeyArray], Chance],
    key: PRNGKeyArray,
    first: Carry,
) -> Carry:
    """``body``, step by step, until the ``episode`` in what it carries is done. Step t has the numbers of
    (key, t)."""

    def goes_on(carry: tuple[Int[Array, ""], Carry]) -> Bool[Array, ""]:
        return (carry[0] < AT_ONCE) & ~episode(carry[1]).done

    def block(carry: Carry) -> Carry:
        steps = episode(carry).step + jnp.arange(AT_ONCE)
        chances = jax.vmap(lambda step: draw(jax.random.fold_in(key, step)))(steps)

        def one(carry: tuple[Int[Array, ""], Carry]) -> tuple[Int[Array, ""], Carry]:
            i, inner = carry
            return i + 1, body(inner, jax.tree.map(lambda column: column[i], chances))

        return jax.lax.while_loop(goes_on, one, (jnp.int32(0), carry))[1]

    return jax.lax.while_loop(lambda carry: ~episode(carry).done, block, first)


def finish(environment: Environment, behaviour: Behaviour, key: PRNGKeyArray) -> Played:
    """One whole episode of μ."""
    reset_key, step_key = jax.random.split(key)

    def body(episode: Episode, chance: Chance) -> Episode:
        return advance_by(environment, behaviour, episode, chance)[0]

    first = begin(environment, reset_key)
    chance = partial(draw, environment, behaviour)
    return played(until_done(body, lambda episode: episode, chance, step_key, first))
