"""An episode under way in a JAX-native task, and one step of it under a behaviour μ."""

from math import log
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.behaviour import Behaviour
from offnac.environments.environment import Environment, Observation
from offnac.transition import Played, Transition


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


def advance(
    environment: Environment, behaviour: Behaviour, episode: Episode, key: PRNGKeyArray
) -> tuple[Episode, Transition]:
    """One step of μ; the transition is a batch of one."""
    action_key, step_key = jax.random.split(key)
    action, behaviour_prob = behaviour(episode.observation, action_key)
    state, observation, reward, terminated, truncated = environment.step(
        episode.environment, action, step_key
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


def finish(environment: Environment, behaviour: Behaviour, key: PRNGKeyArray) -> Played:
    """One whole episode of μ."""
    reset_key, step_key = jax.random.split(key)

    def body(episode: Episode) -> Episode:
        return advance(environment, behaviour, episode, jax.random.fold_in(step_key, episode.step))[0]

    return played(jax.lax.while_loop(lambda episode: ~episode.done, body, begin(environment, reset_key)))
