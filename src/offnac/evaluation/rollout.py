"""The value of a policy by running it: many episodes at once, on either kind of simulator."""

from collections.abc import Callable
from threading import Event

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from offnac.behaviour import Behaviour
from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.environments.episode import finish
from offnac.errors import Stopped
from offnac.saved_policy import Policy

BLOCK = 250
"""Episodes that a compiled rollout plays at once."""
LOCKSTEP = 16
"""Host simulators that share one call of the policy."""
TEST = 0x7E57
"""Sets the random numbers of tests apart from those of training."""


def returns(
    environment: Environment | HostEnvironment,
    policy: Policy,
    episodes: int,
    seed: int,
    report: Callable[[int], None] = lambda episodes: None,
    stop: Event | None = None,
) -> NDArray[np.float64]:
    """The total rewards of ``episodes`` episodes of π, actions sampled. Episode i draws all its numbers
    from (seed, i), whichever simulator plays it. :class:`Stopped` once ``stop`` is set."""
    stop = stop or Event()
    if is_native(environment):
        return _native(environment, policy, episodes, seed, report, stop)
    return _host(environment, policy, episodes, seed, report, stop)


def _native(
    environment: Environment,
    policy: Policy,
    episodes: int,
    seed: int,
    report: Callable[[int], None],
    stop: Event,
) -> NDArray[np.float64]:
    """Blocks of one width, so that a changed number of episodes does not recompile."""
    key, totals = jax.random.fold_in(jax.random.key(seed), TEST), np.zeros(0)
    while len(totals) < episodes:
        if stop.is_set():
            raise Stopped
        block = _block(environment, policy.acting(), key, len(totals))
        totals = np.concatenate([totals, np.asarray(block, float)])
        report(min(len(totals), episodes))
    return totals[:episodes]


@jax.jit
def _block(
    environment: Environment, behaviour: Behaviour, key: PRNGKeyArray, first: int
) -> Float[Array, " episodes"]:
    def one(episode: Int[Array, ""]) -> Float[Array, ""]:
        return finish(environment, behaviour, jax.random.fold_in(key, episode)).total

    return jax.vmap(one)(first + jnp.arange(BLOCK))


def _host(
    environment: HostEnvironment,
    policy: Policy,
    episodes: int,
    seed: int,
    report: Callable[[int], None],
    stop: Event,
) -> NDArray[np.float64]:
    width = min(LOCKSTEP, episodes)
    simulators = [environment, *(environment.another() for _ in range(width - 1))]
    last_action = environment.spec.actions - 1
    totals, finished = np.zeros(episodes), 0
    waiting = iter(range(episodes))
    playing: list[int | None] = [None] * width
    numbers: list[np.random.Generator] = [np.random.default_rng()] * width
    observations = np.zeros((width, environment.spec.observation_size), np.float32)

    def begin(slot: int) -> None:
        playing[slot] = episode = next(waiting, None)
        if episode is not None:
            numbers[slot] = np.random.default_rng([TEST, seed, episode])
            observations[slot] = simulators[slot].reset(int(numbers[slot].integers(2**31)))

    try:
        for slot in range(width):
            begin(slot)
        while any(episode is not None for episode in playing):
            if stop.is_set():
                raise Stopped
            cumulative = policy.probabilities(observations).astype(float).cumsum(axis=1)
            for slot, episode in enumerate(playing):
                if episode is None:
                    continue
                # The last entry is 1 only up to rounding, and no number at all once training diverged.
                draw = numbers[slot].random() * cumulative[slot, -1]
                action = min(np.searchsorted(cumulative[slot], draw, side="right"), last_action)
                observations[slot], reward, terminated, truncated = simulators[slot].step(int(action))
                totals[episode] += reward
                if terminated or truncated:
                    begin(slot)
                    finished += 1
                    report(finished)
    finally:
        for simulator in simulators[1:]:
            simulator.close()
    return totals
