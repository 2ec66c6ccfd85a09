"""Write a log of a behaviour μ in a simulator, with its exact probabilities."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from offnac.behaviour import Behaviour, Uniform
from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.environments.episode import Episode, advance, begin
from offnac.logs.schema import writing
from offnac.transition import Transition

BLOCK = 1 << 15
"""Steps simulated and written at a time."""
HOST_BLOCK = 1 << 11
"""The same where every step passes through Python."""

Block = tuple[NDArray[Any], Any]
"""Episode numbers, and a transition of the host's arrays with a row for each step."""


def collect(
    environment: Environment | HostEnvironment,
    behaviour: Behaviour,
    steps: int,
    path: Path,
    seed: int,
    metadata: dict[str, str] | None = None,
    report: Callable[[int], None] = lambda rows: None,
) -> dict[str, Any]:
    """Log ``steps`` steps; an episode that the end of the log cuts short is marked truncated."""
    if is_native(environment):
        blocks = _native(environment, behaviour, seed)
    else:
        blocks = _host(environment, behaviour, seed)
    returns: list[float] = []
    written, cut, last = 0, False, -1
    with writing(path, environment.spec, metadata) as log:
        while written < steps:
            episode, rows = next(blocks)
            count = min(len(episode), steps - written)
            episode, rows = episode[:count], Transition(*(column[:count] for column in rows))
            written += count
            if written == steps:
                cut = not (rows.terminated[-1] or rows.truncated[-1])
                rows.truncated[-1] |= cut
            log.write(episode, rows)
            sums = np.bincount(episode - episode[0], weights=rows.reward)
            if episode[0] == last:
                returns[-1] += sums[0]
                sums = sums[1:]
            returns.extend(sums.tolist())
            last = int(episode[-1])
            report(written)
    whole = returns[:-1] if cut and len(returns) > 1 else returns
    return {"rows": written, "episodes": len(returns), "mean_return": float(np.mean(whole))}


def _native(environment: Environment, behaviour: Behaviour, seed: int) -> Iterator[Block]:
    key = jax.random.key(seed)
    state = (begin(environment, key), jnp.int32(0))
    for block in range(1 << 31):
        state, (episode, rows) = _block(environment, behaviour, state, jax.random.fold_in(key, block))
        yield np.asarray(episode), jax.tree.map(lambda leaf: np.array(leaf[:, 0]), rows)


@jax.jit
def _block(
    environment: Environment,
    behaviour: Behaviour,
    state: tuple[Episode, Int[Array, ""]],
    key: PRNGKeyArray,
) -> tuple[tuple[Episode, Int[Array, ""]], tuple[Int[Array, " n"], Transition]]:
    def body(
        carry: tuple[Episode, Int[Array, ""]], key: PRNGKeyArray
    ) -> tuple[tuple[Episode, Int[Array, ""]], tuple[Int[Array, ""], Transition]]:
        episode, number = carry
        step_key, reset_key = jax.random.split(key)
        after, transition = advance(environment, behaviour, episode, step_key)
        following = jax.tree.map(partial(jnp.where, after.done), begin(environment, reset_key), after)
        return (following, number + after.done), (number, transition)

    return jax.lax.scan(body, state, jax.random.split(key, BLOCK))


@jax.jit
def _choose(
    behaviour: Behaviour, observation: Float[Array, " d"], key: PRNGKeyArray, row: int
) -> tuple[Int[Array, ""], Float[Array, ""]]:
    return behaviour(observation, jax.random.fold_in(key, row))


def _host(environment: HostEnvironment, behaviour: Behaviour, seed: int) -> Iterator[Block]:
    key, number, step = jax.random.key(seed), 0, 0
    observation = environment.reset(seed)
    for block in range(1 << 31):
        block_key = jax.random.fold_in(key, block)
        blind = None
        if isinstance(behaviour, Uniform):
            # It looks at nothing, so a block of its actions is one call.
            keys = jax.vmap(partial(jax.random.fold_in, block_key))(jnp.arange(HOST_BLOCK))
            blind = jax.device_get(jax.vmap(partial(behaviour, jnp.asarray(observation)))(keys))
        episodes, rows = [], []
        for row in range(HOST_BLOCK):
            if blind is not None:
                action, prob = blind[0][row], blind[1][row]
            else:
                action, prob = jax.device_get(_choose(behaviour, observation, block_key, row))
            following, reward, terminated, truncated = environment.step(int(action))
            rows.append((observation, action, reward, following, terminated, truncated, prob, step))
            episodes.append(number)
            observation, step = following, step + 1
            if terminated or truncated:
                number, step = number + 1, 0
                reset_seed = np.random.SeedSequence([seed, number]).generate_state(1)[0]
                observation = environment.reset(int(reset_seed) // 2)
        columns: Any = (
            np.stack([np.asarray(value) for value in column]) for column in zip(*rows, strict=True)
        )
        yield np.array(episodes), Transition(*columns)
