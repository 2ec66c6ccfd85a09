"""On-line training on a JAX-native task: whole episodes, and chunks of them, in one jitted program."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.behaviour import Acting, Behaviour, Uniform
from offnac.environments.environment import Environment
from offnac.environments.episode import (
    Chance,
    Episode,
    advance,
    advance_by,
    begin,
    draw,
    finish,
    played,
    until_done,
)
from offnac.environments.normalised import Normalised
from offnac.training.learn import learn_from
from offnac.training.protocol import Protocol, Record, Run, finish_episode
from offnac.training.replay import Memory, Replay
from offnac.transition import Transition

AT_A_TIME = 8
"""Steps that lanes record before they look whether all are done."""


def _estimate_ratios(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    key: PRNGKeyArray,
) -> tuple[State, Float[Array, ""]]:
    """One ratio update on the first steps of a fresh rollout of μ (errata row 11)."""
    behaviour = Uniform(environment.spec.actions)
    reset_key, step_key, update_key = jax.random.split(key, 3)
    first = begin(environment, reset_key)

    def body(episode: Episode, chance: Chance) -> tuple[Episode, tuple[Transition, Array]]:
        after, transition = advance_by(environment, behaviour, episode, chance)
        after = after._replace(done=after.done | episode.done)
        return after, (transition, 1.0 - episode.done.astype(jnp.float32))

    keys = jax.random.split(step_key, protocol.ratio_steps)
    _, (rows, weight) = jax.lax.scan(body, first, jax.vmap(partial(draw, environment, behaviour))(keys))
    batch = protocol.as_learned(jax.tree.map(lambda leaf: leaf[:, 0], rows))
    learner, info = algorithm.estimate_ratios(learner, batch, first.observation[None], weight, update_key)
    return learner, info["w"].effective_sample_size


def _train_episode(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    key: PRNGKeyArray,
) -> tuple[State, Episode]:
    """The while loop of Algorithms 1 and 2."""
    reset_key, step_key = jax.random.split(key)

    def behaviour(learner: State) -> Behaviour:
        if protocol.off_policy:
            return Uniform(environment.spec.actions)
        return Acting(algorithm.policy, learner.theta)

    def body(carry: tuple[State, Episode], chance: Chance) -> tuple[State, Episode]:
        learner, episode = carry
        episode, transition = advance_by(environment, behaviour(learner), episode, chance)
        learner, _ = algorithm.update(learner, protocol.as_learned(transition))
        return learner, episode

    first = (learner, begin(environment, reset_key))
    chance = partial(draw, environment, behaviour(learner))
    return until_done(body, lambda carry: carry[1], chance, step_key, first)


def _record_episode(
    environment: Environment,
    replay: Replay,
    behaviour: Behaviour,
    memory: Memory,
    key: PRNGKeyArray,
) -> tuple[Memory, Episode]:
    """Play an episode and keep its steps."""
    reset_key, step_key = jax.random.split(key)

    def body(carry: tuple[Memory, Episode]) -> tuple[Memory, Episode]:
        memory, episode = carry
        key = jax.random.fold_in(step_key, episode.step)
        episode, transition = advance(environment, behaviour, episode, key)
        return replay.store(memory, transition), episode

    first = begin(environment, reset_key)
    memory = replay.begin(memory, first.observation)
    return jax.lax.while_loop(lambda carry: ~carry[1].done, body, (memory, first))


def _record_together(
    environment: Environment,
    replay: Replay,
    behaviour: Behaviour,
    memory: Memory,
    key: PRNGKeyArray,
    together: str,
) -> tuple[Memory, Episode]:
    """The same as one lane of ``vmap``'s axis ``together``.

    A loop that ends at a different step in each lane would carry a copy of every memory through each
    step. So all lanes go on, some steps at a time, until the last one is done; those that are done keep
    nothing more.
    """
    reset_key, step_key = jax.random.split(key)

    def step(episode: Episode, _: None) -> tuple[Episode, tuple[Transition, Array]]:
        key = jax.random.fold_in(step_key, episode.step)
        after, transition = advance(environment, behaviour, episode, key)
        following = jax.tree.map(partial(jnp.where, episode.done), episode, after)
        return following, (jax.tree.map(lambda leaf: leaf[0], transition), ~episode.done)

    def body(carry: tuple[Memory, Episode]) -> tuple[Memory, Episode]:
        memory, episode = carry
        episode, (rows, taken) = jax.lax.scan(step, episode, None, length=AT_A_TIME, unroll=True)
        return replay.store_first(memory, rows, jnp.sum(taken)), episode

    def goes_on(carry: tuple[Memory, Episode]) -> Bool[Array, ""]:
        return jax.lax.pmax(1 - carry[1].done.astype(jnp.int32), together) > 0

    first = begin(environment, reset_key)
    memory = replay.begin(memory, first.observation)
    return jax.lax.while_loop(goes_on, body, (memory, first))


def replayed_episode(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    run: Run,
    together: str | None = None,
) -> tuple[Run, Record]:
    """One training episode, learned from together with those before it."""
    replay, memory = protocol.replay, run.memory
    assert replay is not None and memory is not None
    key = jax.random.fold_in(run.key, run.episode)
    train_key, learn_key, evaluation_key = jax.random.split(key, 3)
    behaviour: Behaviour = Uniform(environment.spec.actions)
    if not protocol.off_policy:
        behaviour = Acting(algorithm.policy, run.learner.theta)
    record = _record_episode if together is None else partial(_record_together, together=together)
    memory, trained = record(environment, replay, behaviour, memory, train_key)
    learner, imagined, effective_sample_size = learn_from(
        memory, run.imagined, algorithm, protocol, run.learner, run.episode, learn_key
    )
    train = evaluation = played(trained)
    if protocol.off_policy:
        evaluation = finish(environment, Acting(algorithm.policy, learner.learned), evaluation_key)
    run = run._replace(memory=memory, imagined=imagined)
    return finish_episode(protocol, run, learner, train, evaluation, effective_sample_size)


def episode(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    run: Run,
    together: str | None = None,
) -> tuple[Run, Record]:
    """One training episode of the paper's protocol. ``together`` names the axis of ``vmap``, if any."""
    if protocol.replay is not None:
        return replayed_episode(environment, algorithm, protocol, run, together)
    key = jax.random.fold_in(run.key, run.episode)
    ratio_key, train_key, evaluation_key = jax.random.split(key, 3)
    learner, effective_sample_size = run.learner, jnp.float32(1.0)
    if protocol.ratio_steps:
        learner, effective_sample_size = _estimate_ratios(
            environment, algorithm, protocol, learner, ratio_key
        )
    learner, trained = _train_episode(environment, algorithm, protocol, learner, train_key)
    train = evaluation = played(trained)
    if protocol.off_policy:
        evaluation = finish(environment, Acting(algorithm.policy, learner.learned), evaluation_key)
    return finish_episode(protocol, run, learner, train, evaluation, effective_sample_size)


@partial(jax.jit, static_argnames=("capacity", "together"))
def chunk(
    environment: Environment,
    algorithm: ActorCritic,
    protocol: Protocol,
    run: Run,
    episodes: int,
    capacity: int,
    together: str | None = None,
) -> tuple[Run, Record]:
    """Up to ``capacity`` episodes; how many is a traced number, so that no chunk recompiles."""
    if protocol.mean is not None and protocol.scale is not None:
        environment = Normalised(environment, protocol.mean, protocol.scale)
    one = partial(episode, environment, algorithm, protocol, together=together)

    def body(i: Int[Array, ""], carry: tuple[Run, Record]) -> tuple[Run, Record]:
        run, records = carry
        run, record = one(run)
        return run, jax.tree.map(lambda kept, new: kept.at[i].set(new), records, record)

    return jax.lax.fori_loop(0, episodes, body, (run, Record.room(capacity)))
