"""The compiled program: many iterations over minibatches of a log, with a candidate kept now and then."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.networks import Parameters
from offnac.settings import settings, static
from offnac.training.from_log.data import LogData
from offnac.training.learn import update_over
from offnac.transition import Spec, Transition

CANDIDATES = 40
"""Policies kept along the way, to choose from."""


@settings
class Drawing:
    """How much an iteration looks at."""

    batch: int = static(default=5120)
    ratio_rows: int = static(default=1024)
    share: float = 0.25
    """The part of the rows that is drawn from the telling ones."""
    held_out_rows: int = static(default=1 << 14)
    """Rows drawn from the held-out episodes to judge by, the same ones for every candidate."""


@dataclass(frozen=True)
class LogExperiment:
    """An algorithm, how it draws from a log, and for how many iterations."""

    algorithm: ActorCritic
    drawing: Drawing
    iterations: int

    @property
    def every(self) -> int:
        """Iterations between two candidates."""
        return -(-self.iterations // CANDIDATES)

    @property
    def candidates(self) -> int:
        """Candidates that there will be."""
        return -(-self.iterations // self.every)


class Candidate(NamedTuple):
    """What is needed to judge a policy: itself, and the critic as it was then."""

    theta: Parameters
    psi: Parameters


class LogRun(NamedTuple):
    """One seed's run between two iterations: all that a checkpoint must hold."""

    key: PRNGKeyArray
    learner: State
    iteration: Int[Array, ""]
    candidates: Candidate
    """One after each ``every`` iterations, the last after the last iteration."""


class LogRecord(NamedTuple):
    """What is kept of each iteration."""

    value: Float[Array, ""]
    """The critic's V, averaged over initial states."""
    entropy: Float[Array, ""]
    """Of π, averaged over rows, as a share of the uniform policy's."""
    effective_sample_size: Float[Array, ""]
    """Of wρ, as a share of the rows."""


@jax.jit
def start(algorithm: ActorCritic, spec: Spec, key: PRNGKeyArray) -> LogRun:
    init_key, run_key = jax.random.split(key)
    learner = algorithm.init(init_key, spec)
    first = Candidate(learner.theta, learner.value.psi)
    room = jax.tree.map(lambda leaf: jnp.zeros((CANDIDATES, *leaf.shape), leaf.dtype), first)
    return LogRun(run_key, learner, jnp.int32(0), room)


def iteration(
    data: LogData, algorithm: ActorCritic, drawing: Drawing, every: Int[Array, ""] | int, run: LogRun
) -> tuple[LogRun, LogRecord]:
    key = jax.random.fold_in(run.key, run.iteration)

    def draw(rows: int, key: PRNGKeyArray) -> Transition:
        return data.draw(rows, drawing.share, key)

    learner, effective_sample_size = update_over(
        draw, data.initial, algorithm, run.learner, drawing.batch, drawing.ratio_rows, key
    )
    # Every iteration writes where its window's candidate stands; the window's last one stays.
    place = run.iteration // every
    candidates = jax.tree.map(
        lambda kept, new: kept.at[place].set(new),
        run.candidates,
        Candidate(learner.theta, learner.value.psi),
    )
    starts = data.initial(key)
    log_pi = algorithm.policy.log_probabilities(learner.theta, data.rows.observation[: len(starts)])
    record = LogRecord(
        value=jnp.mean(algorithm.critic.value(learner.value.psi, starts)),
        entropy=-jnp.mean(jnp.sum(jnp.exp(log_pi) * log_pi, axis=-1)) / jnp.log(log_pi.shape[-1]),
        effective_sample_size=effective_sample_size,
    )
    return LogRun(run.key, learner, run.iteration + 1, candidates), record


@partial(jax.jit, static_argnames="capacity")
def chunk(
    data: LogData,
    algorithm: ActorCritic,
    drawing: Drawing,
    every: int,
    run: LogRun,
    count: int,
    capacity: int,
) -> tuple[LogRun, LogRecord]:
    """Up to ``capacity`` iterations; how many is a traced number, so that no chunk recompiles."""
    one = partial(iteration, data, algorithm, drawing, every)
    shapes = jax.eval_shape(one, run)[1]
    records = jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape), leaf.dtype), shapes)

    def body(i: Int[Array, ""], carry: tuple[LogRun, LogRecord]) -> tuple[LogRun, Any]:
        run, records = carry
        run, record = one(run)
        return run, jax.tree.map(lambda all_, new: all_.at[i].set(new), records, record)

    return jax.lax.fori_loop(0, count, body, (run, records))
