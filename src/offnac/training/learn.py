"""Updates over batches that are drawn: from memory after a recorded episode, or from a log."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.training.from_log.imagination import IMAGINE, Draw, Imagined
from offnac.training.protocol import Protocol
from offnac.training.replay import STARTS, Memory
from offnac.transition import Transition

Starts = Callable[[PRNGKeyArray], Float[Array, "m d"]]
"""Some s₀ ~ d₀."""


def update_over(
    draw: Draw,
    starts: Starts,
    algorithm: ActorCritic,
    learner: State,
    batch: int,
    ratio_rows: int,
    key: PRNGKeyArray,
) -> tuple[State, Float[Array, ""]]:
    """A ratio update (where ``ratio_rows`` > 0) and an update, each over rows of its own; and the effective
    sample size of wρ."""
    batch_key, ratio_key, start_key, update_key = jax.random.split(key, 4)
    effective_sample_size = jnp.float32(1.0)
    if ratio_rows:
        rows, weight = draw(ratio_rows, ratio_key), jnp.ones(ratio_rows)
        learner, info = algorithm.estimate_ratios(learner, rows, starts(start_key), weight, update_key)
        effective_sample_size = info["w"].effective_sample_size
    return algorithm.update(learner, draw(batch, batch_key))[0], effective_sample_size


def learn_from(
    memory: Memory,
    imagined: Imagined | None,
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    episode: Int[Array, ""],
    key: PRNGKeyArray,
) -> tuple[State, Imagined | None, Float[Array, ""]]:
    """The updates that follow a recorded episode."""
    replay, imagination = protocol.replay, protocol.imagination
    assert replay is not None
    events = replay.events(memory)

    def recorded(rows: int, key: PRNGKeyArray) -> Transition:
        batch = protocol.as_learned(replay.sample(memory, events, rows, key))
        if imagined is None:
            return batch
        return imagined.foresight.potential.as_learned(batch, algorithm.gamma)

    def states(count: int, key: PRNGKeyArray) -> Float[Array, "count d"]:
        return replay.sample(memory, events, count, key).observation

    starts = partial(replay.initial, memory)
    Carry = tuple[State, Imagined | None, Float[Array, ""]]

    def update(i: Int[Array, ""], carry: Carry) -> Carry:
        learner, imagined, _ = carry
        i_key, draw = jax.random.fold_in(key, i), recorded
        if imagined is not None and imagination is not None:
            walks, rows = imagination.go_on(
                imagined.foresight,
                algorithm.policy,
                learner.theta,
                algorithm.gamma,
                imagined.walks,
                learner.clock.step == 0,
                states,
                starts,
                jax.random.fold_in(i_key, IMAGINE),
            )
            imagined, draw = imagined._replace(walks=walks), partial(imagination.mixed, recorded, rows)
        learner, effective_sample_size = update_over(
            draw, partial(starts, STARTS), algorithm, learner, replay.batch, protocol.ratio_steps, i_key
        )
        return learner, imagined, effective_sample_size

    ready = (episode >= replay.warm_up) & replay.teaches(events)
    updates = jnp.where(ready, replay.updates, 0)
    return jax.lax.fori_loop(0, updates, update, (learner, imagined, jnp.float32(1.0)))
