"""Updates over batches that are drawn: from memory after a recorded episode, or from a log."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.training.protocol import Protocol
from offnac.training.replay import Memory
from offnac.transition import Transition

Draw = Callable[[int, PRNGKeyArray], Transition]
"""That many rows."""
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
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    episode: Int[Array, ""],
    key: PRNGKeyArray,
) -> tuple[State, Float[Array, ""]]:
    """The updates that follow a recorded episode."""
    replay = protocol.replay
    assert replay is not None
    events = replay.events(memory)

    def draw(rows: int, key: PRNGKeyArray) -> Transition:
        return protocol.as_learned(replay.sample(memory, events, rows, key))

    def starts(key: PRNGKeyArray) -> Float[Array, "m d"]:
        return replay.initial(memory, key)

    def update(i: Int[Array, ""], carry: tuple[State, Float[Array, ""]]) -> tuple[State, Any]:
        i_key = jax.random.fold_in(key, i)
        return update_over(draw, starts, algorithm, carry[0], replay.batch, protocol.ratio_steps, i_key)

    ready = (episode >= replay.warm_up) & replay.teaches(events)
    updates = jnp.where(ready, replay.updates, 0)
    return jax.lax.fori_loop(0, updates, update, (learner, jnp.float32(1.0)))
