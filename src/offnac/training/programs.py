"""The compiled programs of a group of seeds in lockstep: one entry per seed, and masks for who takes part."""

from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.behaviour import Acting, Uniform
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.training.from_log.imagination import Imagined
from offnac.training.learn import learn_from
from offnac.training.protocol import Protocol, Record, Run, finish_episode, one_of
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


def put(seeds: Any, seed: int, one: Any) -> Any:
    """Give one seed something else; where ``seeds`` is donated, in place."""
    return jax.tree.map(lambda leaf, new: jax.lax.dynamic_update_index_in_dim(leaf, new, seed, 0), seeds, one)


class Chance(NamedTuple):
    """What is random at some steps of some episodes: drawn for many at once, it costs each little."""

    mu: Int[Array, "episodes phases n"]
    """The actions of μ, which ask nothing of the states, in the phases before evaluation."""
    pi: Float[Array, "episodes n a"]
    """The noise that π chooses by."""


@partial(jax.jit, static_argnames=("spec", "acting", "episodes", "count"))
def draw(
    policy: SoftmaxPolicy,
    theta: Float[Array, "seeds k"],
    spec: Spec,
    acting: Phase,
    key: PRNGKeyArray,
    seed: int,
    episode: int,
    episodes: int,
    first: int,
    count: int,
) -> Chance:
    """The chance in so many of one seed's episodes, from their step ``first`` on; π's in the phase that it
    is ``acting`` in."""

    def keys(*, episode: Array, phase: int) -> PRNGKeyArray:
        one = jax.random.fold_in(jax.random.fold_in(key[seed], episode), phase)
        return jax.vmap(partial(jax.random.fold_in, one))(first + jnp.arange(count))

    def of(episode: Array) -> Chance:
        phases = jnp.array([Phase.RATIO, Phase.TRAIN])
        mu = jax.vmap(lambda phase: keys(episode=episode, phase=phase))(phases)
        pi = keys(episode=episode, phase=acting)
        behaviour, acts = Uniform(spec.actions), Acting(policy, theta[seed])
        return Chance(
            jax.vmap(jax.vmap(lambda key: behaviour.draw(key, spec.actions)))(mu),
            jax.vmap(lambda key: acts.draw(key, spec.actions))(pi),
        )

    return jax.vmap(of)(episode + jnp.arange(episodes))


@jax.jit
def act(
    policy: SoftmaxPolicy,
    theta: Float[Array, "seeds k"],
    observation: Float[Array, "seeds d"],
    noise: Float[Array, "seeds a"],
) -> tuple[Int[Array, " seeds"], Float[Array, " seeds"]]:
    """a ~ π(·|s) and π(a|s)."""

    def one(theta: Array, observation: Array, noise: Array) -> Any:
        return Acting(policy, theta).choose(observation, noise)

    return jax.vmap(one)(theta, observation, noise)


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


class Rows(NamedTuple):
    """Steps of one seed, in arrays of one size whatever their number."""

    columns: Transition
    number: int


@partial(jax.jit, donate_argnames="learner")
def learn_rows(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    seed: int,
    rows: Rows,
    fresh: Rows | None,
    key: PRNGKeyArray,
    episode: int,
) -> tuple[State, Float[Array, ""] | None]:
    """The updates of one seed from its rows, one after the other; before them, where there are ``fresh``
    ones, a ratio update from those."""
    one, ess = one_of(learner, seed), None
    if fresh is not None:
        key = jax.random.fold_in(jax.random.fold_in(key[seed], episode), len(Phase))
        batch = protocol.as_learned(fresh.columns)
        weight = (jnp.arange(len(batch.step)) < fresh.number).astype(jnp.float32)
        one, info = algorithm.estimate_ratios(one, batch, batch.observation[:1], weight, key)
        # A barrier: the updates are the same to the last bit, whether or not ratios come before them.
        one, ess = jax.lax.optimization_barrier((one, info["w"].effective_sample_size))

    def update(i: Int[Array, ""], one: State) -> State:
        batch = jax.tree.map(lambda column: jax.lax.dynamic_slice_in_dim(column, i, 1), rows.columns)
        return algorithm.update(one, protocol.as_learned(batch))[0]

    return put(learner, seed, jax.lax.fori_loop(0, rows.number, update, one)), ess


@partial(jax.jit, donate_argnames="learner")
def learn_memory(
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    seed: int,
    memory: Memory,
    imagined: Imagined | None,
    key: PRNGKeyArray,
    episode: int,
) -> tuple[State, Imagined | None, Float[Array, ""]]:
    """The updates of one seed from its memory."""
    key = jax.random.fold_in(jax.random.fold_in(key[seed], episode), len(Phase))
    one, imagined, ess = learn_from(
        memory, imagined, algorithm, protocol, one_of(learner, seed), jnp.asarray(episode), key
    )
    return put(learner, seed, one), imagined, ess


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
    after, record = finish_episode(protocol, one_of(run, seed), one_of(learner, seed), train, evaluation, ess)
    return put(run, seed, after), put(learner.clock, seed, after.learner.clock), record
