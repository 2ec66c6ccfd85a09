"""The compiled programs of a group of seeds in lockstep: one entry per seed, and masks for who takes part."""

from enum import IntEnum
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.behaviour import Acting
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
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


def take(seeds: Any, seed: int) -> Any:
    """What one seed has."""
    return jax.tree.map(lambda leaf: leaf[seed], seeds)


def put(seeds: Any, seed: int, one: Any) -> Any:
    """Give one seed something else; where ``seeds`` is donated, in place."""
    return jax.tree.map(lambda leaf, new: jax.lax.dynamic_update_index_in_dim(leaf, new, seed, 0), seeds, one)


@jax.jit
def act(
    policy: SoftmaxPolicy,
    theta: Float[Array, "seeds k"],
    observation: Float[Array, "seeds d"],
    key: PRNGKeyArray,
    when: Int[Array, "seeds 3"],
) -> tuple[Int[Array, " seeds"], Float[Array, " seeds"]]:
    """a ~ π(·|s) and π(a|s), ``when``: in which episode, phase and step."""

    def one(theta: Array, observation: Array, key: PRNGKeyArray, when: Array) -> Any:
        for number in when:
            key = jax.random.fold_in(key, number)
        return Acting(policy, theta)(observation, key)

    return jax.vmap(one)(theta, observation, key, when)


@partial(jax.jit, static_argnames=("spec", "count"))
def draw(
    spec: Spec, key: PRNGKeyArray, seed: int, episode: int, phase: int, first: int, count: int
) -> Int[Array, " n"]:
    """The actions of μ at some steps from ``first`` on: they ask nothing of the states."""
    key = jax.random.fold_in(jax.random.fold_in(key[seed], episode), phase)
    keys = jax.vmap(partial(jax.random.fold_in, key))(first + jnp.arange(count))
    return jax.vmap(lambda key: jax.random.randint(key, (), 0, spec.actions))(keys)


@partial(jax.jit, donate_argnames="learner")
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


@partial(jax.jit, donate_argnames="learner")
def learn_rows(
    algorithm: ActorCritic, protocol: Protocol, learner: State, seed: int, rows: Transition, count: int
) -> State:
    """The updates of one seed from the first ``count`` rows, one after the other."""

    def update(i: Int[Array, ""], one: State) -> State:
        batch = jax.tree.map(lambda column: jax.lax.dynamic_slice_in_dim(column, i, 1), rows)
        return algorithm.update(one, protocol.as_learned(batch))[0]

    return put(learner, seed, jax.lax.fori_loop(0, count, update, take(learner, seed)))


@partial(jax.jit, donate_argnames="learner")
def learn_memory(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    seed: int,
    memory: Memory,
    key: PRNGKeyArray,
    episode: int,
) -> tuple[State, Float[Array, ""]]:
    """The updates of one seed from its memory."""
    key = jax.random.fold_in(jax.random.fold_in(key[seed], episode), len(Phase))
    one, ess = learn_from(memory, algorithm, protocol, take(learner, seed), jnp.asarray(episode), key)
    return put(learner, seed, one), ess


@partial(jax.jit, donate_argnames="learner")
def estimate_ratios(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    seed: int,
    rows: Transition,
    weight: Float[Array, " n"],
    key: PRNGKeyArray,
    episode: int,
) -> tuple[State, Float[Array, ""]]:
    """The ratio update of one seed."""
    key = jax.random.fold_in(jax.random.fold_in(key[seed], episode), len(Phase))
    batch, one = protocol.as_learned(rows), take(learner, seed)
    one, info = algorithm.estimate_ratios(one, batch, batch.observation[:1], weight, key)
    return put(learner, seed, one), info["w"].effective_sample_size


@partial(jax.jit, donate_argnames="run")
def book(
    protocol: Protocol,
    run: Run,
    learner: State,
    seed: int,
    train: Played,
    evaluation: Played,
    ess: Float[Array, ""],
) -> tuple[Run, Clock, Record]:
    """End the episode of one seed: all runs, the learners' clocks as they go on, its record."""
    after, record = finish_episode(protocol, take(run, seed), take(learner, seed), train, evaluation, ess)
    return put(run, seed, after), put(learner.clock, seed, after.learner.clock), record
