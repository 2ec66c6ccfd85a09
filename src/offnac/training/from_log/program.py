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
from offnac.training.from_log.imagination import IMAGINE, Foresight, Imagination, Walks
from offnac.training.learn import update_over
from offnac.transition import Spec, Transition

CANDIDATES = 40
"""Policies kept along the way, to choose from."""
AVERAGED = 4
"""Of them in a row that are averaged to one."""


@settings
class Drawing:
    """How much an iteration looks at."""

    imagination: Imagination
    batch: int = static(default=5120)
    ratio_rows: int = static(default=1024)
    share: float = 0.25
    """The part of the rows that is drawn from the telling ones."""
    held_out_rows: int = static(default=1 << 14)
    """Rows drawn from the held-out episodes to judge by, the same ones for every candidate."""


class Source(NamedTuple):
    """What rows are drawn from."""

    log: LogData
    foresight: Foresight | None = None
    """None to learn from the log alone."""

    def imagine(
        self, algorithm: ActorCritic, drawing: Drawing, run: "LogRun", key: PRNGKeyArray
    ) -> tuple[Walks, Transition | None]:
        """What π meets next on its walks."""
        if self.foresight is None:
            return run.walks, None

        def recorded(count: int, key: PRNGKeyArray) -> Float[Array, "count d"]:
            return self.log.draw(count, drawing.share, key).observation

        return drawing.imagination.go_on(
            self.foresight,
            algorithm.policy,
            run.learner.theta,
            algorithm.gamma,
            run.walks,
            run.iteration == 0,
            recorded,
            self.log.first,
            key,
        )

    def draw(self, drawing: Drawing, imagined: Transition | None, rows: int, key: PRNGKeyArray) -> Transition:
        """Rows of the log, and of those imagined where there are any."""

        def recorded(rows: int, key: PRNGKeyArray) -> Transition:
            return self.log.draw(rows, drawing.share, key)

        if imagined is None:
            return recorded(rows, key)
        return drawing.imagination.mixed(recorded, imagined, rows, key)


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

    def averaged(self) -> "Candidate":
        """Of a row of candidates: each policy the mean of the last few. One step's noise may decide whether
        a policy comes to rest; the mean of some steps has less of it (Polyak and Juditsky 1992)."""
        count = range(1, len(self.theta) + 1)
        return self._replace(
            theta=jnp.stack([self.theta[max(0, end - AVERAGED) : end].mean(axis=0) for end in count])
        )


class LogRun(NamedTuple):
    """One seed's run between two iterations: all that a checkpoint must hold."""

    key: PRNGKeyArray
    learner: State
    iteration: Int[Array, ""]
    candidates: Candidate
    """One after each ``every`` iterations, the last after the last iteration."""
    walks: Walks


class LogRecord(NamedTuple):
    """What is kept of each iteration."""

    value: Float[Array, ""]
    """The critic's V, averaged over initial states."""
    entropy: Float[Array, ""]
    """Of π, averaged over rows, as a share of the uniform policy's."""
    effective_sample_size: Float[Array, ""]
    """Of wρ, as a share of the rows."""


@jax.jit
def start(algorithm: ActorCritic, drawing: Drawing, spec: Spec, key: PRNGKeyArray) -> LogRun:
    init_key, run_key = jax.random.split(key)
    learner = algorithm.init(init_key, spec)
    first = Candidate(learner.theta, learner.value.psi)
    room = jax.tree.map(lambda leaf: jnp.zeros((CANDIDATES, *leaf.shape), leaf.dtype), first)
    walks = drawing.imagination.no_walks(drawing.batch, spec.observation_size)
    return LogRun(run_key, learner, jnp.int32(0), room, walks)


def iteration(
    source: Source, algorithm: ActorCritic, drawing: Drawing, every: Int[Array, ""] | int, run: LogRun
) -> tuple[LogRun, LogRecord]:
    key, data = jax.random.fold_in(run.key, run.iteration), source.log
    walks, imagined = source.imagine(algorithm, drawing, run, jax.random.fold_in(key, IMAGINE))
    draw = partial(source.draw, drawing, imagined)
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
    return LogRun(run.key, learner, run.iteration + 1, candidates, walks), record


@partial(jax.jit, static_argnames="capacity")
def chunk(
    source: Source,
    algorithm: ActorCritic,
    drawing: Drawing,
    every: int,
    run: LogRun,
    count: int,
    capacity: int,
) -> tuple[LogRun, LogRecord]:
    """Up to ``capacity`` iterations; how many is a traced number, so that no chunk recompiles."""
    one = partial(iteration, source, algorithm, drawing, every)
    records = LogRecord(*(jnp.zeros(capacity, jnp.float32) for _ in LogRecord._fields))

    def body(i: Int[Array, ""], carry: tuple[LogRun, LogRecord]) -> tuple[LogRun, Any]:
        run, records = carry
        run, record = one(run)
        return run, jax.tree.map(lambda all_, new: all_.at[i].set(new), records, record)

    return jax.lax.fori_loop(0, count, body, (run, records))
