"""The compiled programs of a group of seeds in lockstep: one entry per seed, and masks for who takes part."""

from enum import IntEnum
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.behaviour import Acting, Uniform
from offnac.training.learn import learn_from
from offnac.training.protocol import Protocol, Record, Run, finish_episode
from offnac.training.replay import Memory
from offnac.transition import Played, Spec, Transition


class Phase(IntEnum):
    RATIO = 0
    TRAIN = 1
    EVALUATE = 2
    FINISHED = 3


def select(mask: Bool[Array, " seeds"], new: Any, old: Any) -> Any:
    """``new`` for the seeds in the mask, ``old`` for the others."""

    def choose(a: Array, b: Array) -> Array:
        return jnp.where(mask.reshape(mask.shape + (1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(choose, new, old)


@partial(jax.jit, static_argnames="spec")
def act(
    algorithm: ActorCritic,
    protocol: Protocol,
    spec: Spec,
    theta: Float[Array, "seeds k"],
    observation: Float[Array, "seeds d"],
    key: PRNGKeyArray,
    episode: Int[Array, " seeds"],
    phase: Int[Array, " seeds"],
    step: Int[Array, " seeds"],
) -> tuple[Int[Array, " seeds"], Float[Array, " seeds"]]:
    """a and μ(a|s): π evaluates, and on-policy it trains; μ does the rest."""

    def one(
        theta: Array, observation: Array, key: PRNGKeyArray, episode: Array, phase: Array, step: Array
    ) -> Any:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.fold_in(key, episode), phase), step)
        acting = Acting(algorithm.policy, theta)(observation, key)
        if not protocol.off_policy:
            return acting
        evaluating = phase == Phase.EVALUATE
        return jax.tree.map(partial(jnp.where, evaluating), acting, Uniform(spec.actions)(observation, key))

    return jax.vmap(one)(theta, observation, key, episode, phase, step)


@jax.jit
def learn(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    transition: Transition,
    train: Bool[Array, " seeds"],
) -> State:
    """One update of every seed that trains."""

    def one(learner: State, transition: Transition) -> State:
        batch = jax.tree.map(lambda leaf: leaf[None], transition)
        return algorithm.update(learner, protocol.as_learned(batch))[0]

    return select(train, jax.vmap(one)(learner, transition), learner)


@jax.jit
def estimate_ratios(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    rows: Transition,
    weight: Float[Array, "seeds n"],
    key: PRNGKeyArray,
    episode: Int[Array, " seeds"],
    mask: Bool[Array, " seeds"],
    ess: Float[Array, " seeds"],
) -> tuple[State, Float[Array, " seeds"]]:
    """The ratio update of the seeds whose rollout is complete."""

    def one(learner: State, batch: Transition, weight: Array, key: PRNGKeyArray, episode: Array) -> Any:
        key = jax.random.fold_in(jax.random.fold_in(key, episode), len(Phase))
        batch = protocol.as_learned(batch)
        learner, info = algorithm.estimate_ratios(learner, batch, batch.observation[:1], weight, key)
        return learner, info["w"].effective_sample_size

    return select(mask, jax.vmap(one)(learner, rows, weight, key, episode), (learner, ess))


@jax.jit
def learn_one(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    memory: Memory,
    key: PRNGKeyArray,
    episode: int,
) -> tuple[State, Float[Array, ""]]:
    """The updates of one seed from its memory."""
    key = jax.random.fold_in(jax.random.fold_in(key, episode), len(Phase))
    return learn_from(memory, algorithm, protocol, learner, jnp.asarray(episode), key)


@jax.jit
def book(
    protocol: Protocol,
    run: Run,
    learner: State,
    train: Played,
    evaluation: Played,
    ess: Float[Array, " seeds"],
    mask: Bool[Array, " seeds"],
) -> tuple[Run, State, Record]:
    """End the episode of the seeds in the mask: their runs, all learners as they go on, the records."""
    after, record = jax.vmap(partial(finish_episode, protocol))(run, learner, train, evaluation, ess)
    return select(mask, after, run), select(mask, after.learner, learner), record
