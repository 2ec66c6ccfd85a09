"""The compiled program: many iterations over minibatches of a log, with a candidate kept now and then."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.actor_critic import ActorCritic, State
from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.settings import settings, static
from offnac.training.from_log import imagine
from offnac.training.from_log.data import LogData
from offnac.training.from_log.model import Model, ModelState
from offnac.training.from_log.potential import Potential
from offnac.training.learn import update_over
from offnac.transition import Spec, Transition

CANDIDATES = 40
"""Policies kept along the way, to choose from."""
AVERAGED = 4
"""Of them in a row that are averaged to one."""
IMAGINE = 0x1A61
"""Sets the random numbers of what is imagined apart."""
STEPS = 8
"""That every walk in the model goes on in an iteration."""


@settings
class Drawing:
    """How much an iteration looks at."""

    model: Model
    """What carries π beyond recorded states."""
    batch: int = static(default=5120)
    ratio_rows: int = static(default=1024)
    share: float = 0.25
    """The part of the rows that is drawn from the telling ones."""
    held_out_rows: int = static(default=1 << 14)
    """Rows drawn from the held-out episodes to judge by, the same ones for every candidate."""
    imagined: float = static(default=0.5)
    """The part of the rows that is imagined, steps of π in the model; 0 to learn from the log alone."""
    depth: float = 24.0
    """Steps in the mean before a walk of π in the model begins again."""
    anew: float = 0.0
    """The part of the walks that begin where episodes begin; the others begin at recorded states."""

    @property
    def walks(self) -> int:
        """Of each member of the model: as many as make the imagined rows of a batch."""
        return -(-int(self.imagined * self.batch) // (STEPS * self.model.members))

    def imagine(
        self, source: "Source", policy: SoftmaxPolicy, gamma: float, run: "LogRun", key: PRNGKeyArray
    ) -> tuple[Float[Array, "members walks d"], Transition | None]:
        """What π meets next on its walks in the model, which began at recorded states."""
        if source.model is None or source.potential is None:
            return run.walks, None
        start_key, model_key = jax.random.split(key)
        shape = (STEPS + 1, self.model.members, self.walks)
        begun = self.begin(source.log, math.prod(shape), start_key).reshape(*shape, -1)
        walks = jnp.where(run.iteration == 0, begun[0], run.walks)
        theta, chance = run.learner.theta, 1.0 / self.depth
        walks, rows = imagine.rows(
            self.model, source.model, policy, theta, walks, begun[1:], chance, model_key
        )
        return walks, source.potential.discounted(rows, gamma)

    def begin(self, log: LogData, count: int, key: PRNGKeyArray) -> Float[Array, "count d"]:
        """States that walks begin at."""
        row_key, start_key, which_key = jax.random.split(key, 3)
        recorded = log.draw(count, self.share, row_key).observation
        first = log.starts[jax.random.randint(start_key, (count,), 0, log.starts_size)]
        return jnp.where(jax.random.uniform(which_key, (count, 1)) < self.anew, first, recorded)

    def draw(self, log: LogData, imagined: Transition | None, rows: int, key: PRNGKeyArray) -> Transition:
        """Rows of the log and imagined ones, in their shares and in no order."""
        if imagined is None:
            return log.draw(rows, self.share, key)
        log_key, some_key, order_key = jax.random.split(key, 3)
        some = jax.random.permutation(some_key, len(imagined.action))[: int(self.imagined * rows)]
        logged = log.draw(rows - len(some), self.share, log_key)
        order = jax.random.permutation(order_key, rows)
        return jax.tree.map(lambda one, other: jnp.concatenate([one, other[some]])[order], logged, imagined)


class Source(NamedTuple):
    """What rows are drawn from."""

    log: LogData
    model: ModelState | None = None
    potential: Potential | None = None
    """What has been taken out of the log's rewards, and of the model's."""


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
    walks: Float[Array, "members walks d"]
    """Where π has come to in the model."""


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
    walks = jnp.zeros((drawing.model.members, drawing.walks, spec.observation_size))
    return LogRun(run_key, learner, jnp.int32(0), room, walks)


def iteration(
    source: Source, algorithm: ActorCritic, drawing: Drawing, every: Int[Array, ""] | int, run: LogRun
) -> tuple[LogRun, LogRecord]:
    key, data = jax.random.fold_in(run.key, run.iteration), source.log
    imagine_key = jax.random.fold_in(key, IMAGINE)
    walks, imagined = drawing.imagine(source, algorithm.policy, algorithm.gamma, run, imagine_key)
    draw = partial(drawing.draw, data, imagined)
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
