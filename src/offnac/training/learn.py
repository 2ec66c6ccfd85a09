"""What follows a recorded episode: updates over batches drawn from memory."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.training.protocol import Protocol
from offnac.training.replay import Memory


def learn_from(
    memory: Memory,
    algorithm: ActorCritic,
    protocol: Protocol,
    learner: State,
    episode: Int[Array, ""],
    key: PRNGKeyArray,
) -> tuple[State, Float[Array, ""]]:
    """The ratio update and the updates that follow an episode."""
    replay = protocol.replay
    assert replay is not None

    def update(i: Int[Array, ""], carry: tuple[State, Float[Array, ""]]) -> tuple[State, Float[Array, ""]]:
        learner, ess = carry
        batch_key, ratio_key, start_key, update_key = jax.random.split(jax.random.fold_in(key, i), 4)
        if protocol.ratio_steps:
            rows = protocol.with_ends(replay.sample(memory, protocol.ratio_steps, ratio_key))
            starts, weight = replay.initial(memory, start_key), jnp.ones(protocol.ratio_steps)
            learner, info = algorithm.estimate_ratios(learner, rows, starts, weight, update_key)
            ess = info["w"].effective_sample_size
        batch = protocol.with_ends(replay.sample(memory, replay.batch, batch_key))
        return algorithm.update(learner, batch)[0], ess

    ready = (episode >= replay.warm_up) & replay.teaches(memory)
    updates = jnp.where(ready, replay.updates, 0)
    return jax.lax.fori_loop(0, updates, update, (learner, jnp.float32(1.0)))
