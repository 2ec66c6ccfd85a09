"""The paper's experimental protocol: training episodes, a running average of the return,
the best checkpoint (Section VII), in terms that both kinds of simulator share."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.networks import Parameters
from offnac.settings import settings, static
from offnac.training.from_log.imagination import Imagination, Imagined
from offnac.training.replay import Memory, Replay
from offnac.training.shaping import Shaping
from offnac.transition import Played, Spec, Transition


@settings
class Protocol:
    """``ratio_steps``: steps of a fresh rollout of μ per ratio update; 0 for none. With ``replay`` it
    is the number of rows drawn from what is kept.
    ``newest``: weight of the newest return in the running average: 0.1 as published, 0.9 as printed
    (errata row 7)."""

    off_policy: bool = static()
    ratio_steps: int = static(default=0)
    newest: float = 0.1
    time_limit_terminal: bool = static(default=False)
    replay: Replay | None = None
    """Learn from recent transitions after each episode instead of from each step once."""
    mean: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    """Observations are learned from as (s − mean)/scale."""

    shaping: Shaping | None = None
    imagination: Imagination | None = None
    """Learn from rows of π's walks in a model too, which is fitted to what is kept when learning begins."""

    def as_learned(self, batch: Transition) -> Transition:
        """What the learner is shown: shaped rewards where there are any; as the task's end never a time
        limit, except as published."""
        if self.shaping is not None:
            batch = self.shaping(batch)
        if not self.time_limit_terminal:
            return batch
        return batch._replace(terminated=batch.terminated | batch.truncated)


@dataclass(frozen=True)
class Experiment:
    """An algorithm, the protocol that it is run under, and for how many training episodes."""

    algorithm: ActorCritic
    protocol: Protocol
    episodes: int


class Run(NamedTuple):
    """One seed's run between two episodes: all that a checkpoint must hold."""

    key: PRNGKeyArray
    learner: State
    episode: Int[Array, ""]
    train_steps: Int[Array, ""]
    average: Float[Array, ""]
    best_theta: Parameters
    best_episode: Int[Array, ""]
    memory: Memory | None
    """The transitions kept for replay."""
    imagined: Imagined | None
    """The model that was made of them, and where π has come to in it."""


@jax.jit
def one_of(stacked: Any, index: int) -> Any:
    """One out of many that are stacked, in one call for all its leaves."""
    return jax.tree.map(lambda leaf: leaf[index], stacked)


class Record(NamedTuple):
    """What is kept of each training episode."""

    train_return: Float[Array, ""]
    train_length: Int[Array, ""]
    evaluation_return: Float[Array, ""]
    """Return of the episode that the running average is made of: off-policy, one run of π after the
    training episode; on-policy the training episode itself."""
    evaluation_length: Int[Array, ""]
    average: Float[Array, ""]
    best_average: Float[Array, ""]
    effective_sample_size: Float[Array, ""]
    """Of wρ over the last ratio update; 1 on-policy."""
    entropy: Float[Array, ""]
    """Of π, as a share of the uniform policy's: the mean of −log π(a|s) over the actions of the episode that
    the running average is made of."""

    @classmethod
    def room(cls, *shape: int) -> "Record":
        """For so many of them."""
        return cls(*(jnp.zeros(shape, dtype_of(name)) for name in cls._fields))


def dtype_of(field: str) -> type[np.int32 | np.float32]:
    """Lengths are counts, and the rest are measurements."""
    return np.int32 if field.endswith("_length") else np.float32


@jax.jit
def start(algorithm: ActorCritic, protocol: Protocol, spec: Spec, key: PRNGKeyArray) -> Run:
    init_key, run_key = jax.random.split(key)
    learner = algorithm.init(init_key, spec)
    return Run(
        key=run_key,
        learner=learner,
        episode=jnp.int32(0),
        train_steps=jnp.int32(0),
        average=jnp.float32(0.0),
        best_theta=learner.learned,
        best_episode=jnp.int32(-1),
        memory=None if protocol.replay is None else protocol.replay.empty(spec),
        imagined=nothing_imagined(protocol, spec),
    )


def nothing_imagined(protocol: Protocol, spec: Spec) -> Imagined | None:
    if protocol.imagination is None or protocol.replay is None:
        return None
    return protocol.imagination.empty(spec, protocol.replay.batch)


def finish_episode(
    protocol: Protocol,
    run: Run,
    learner: State,
    train: Played,
    evaluation: Played,
    effective_sample_size: Float[Array, ""],
) -> tuple[Run, Record]:
    """Book an episode: running average, best checkpoint, record."""
    mixed = protocol.newest * evaluation.total + (1.0 - protocol.newest) * run.average
    average = jnp.where(run.episode == 0, evaluation.total, mixed)
    better = average > learner.clock.best
    best = jnp.where(better, average, learner.clock.best)
    run = Run(
        key=run.key,
        learner=learner._replace(clock=learner.clock._replace(best=best)),
        episode=run.episode + 1,
        train_steps=run.train_steps + train.steps,
        average=average,
        best_theta=jax.tree.map(partial(jnp.where, better), learner.learned, run.best_theta),
        best_episode=jnp.where(better, run.episode, run.best_episode),
        memory=run.memory,
        imagined=run.imagined,
    )
    record = Record(
        train_return=train.total,
        train_length=train.steps,
        evaluation_return=evaluation.total,
        evaluation_length=evaluation.steps,
        average=average,
        best_average=best,
        effective_sample_size=effective_sample_size,
        entropy=evaluation.surprise / evaluation.steps,
    )
    return run, record
