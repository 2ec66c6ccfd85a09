"""Networks fitted together, each to a resample of the episodes.

A member's resample leaves out one fold of the episodes altogether: for these it is the judge that has not
seen them.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import NDArray

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.evidence import CHUNK, Evidence
from offnac.evaluation.off_policy.fitted.regression import Regression, Rows, Task, begin, fit_members
from offnac.logs import Log
from offnac.logs.padding import padded
from offnac.networks import MLP, Parameters
from offnac.transition import Transition

HIDDEN = (64, 64)
ROWS = 1 << 20
"""Rows that are drawn from; a fit visits no more."""
ENDS = 0.125
"""The least share of the draws that terminated rows have: where few episodes end, these few tell most. A
regression may weigh its rows as it likes."""
UNIT = 0.2
"""Values are learned in units of this share of what rewards of their mean size add up to."""


@dataclass(frozen=True)
class Ensemble:
    log: Log
    regression: Regression
    task: Task
    fold: NDArray[np.int64]
    """The member that judges each episode [E]."""
    times: NDArray[np.int64]
    """How often each member's resample holds each episode [m, E]."""
    some: NDArray[np.int64]
    """The rows that are drawn from."""

    def begin(self, key: PRNGKeyArray) -> Float[Array, "m k"]:
        return begin(self.regression, jax.random.split(key, len(self.times)))

    def fit(
        self, evidence: Evidence, psi: Float[Array, "m k"], key: PRNGKeyArray, steps: int
    ) -> Float[Array, "m k"]:
        """Every member's ψ for the policy of the evidence, after some steps from ψ."""
        drawn = jnp.asarray(np.stack([_shares(self.log, self.some, each) for each in self.times]))
        keys = jax.random.split(key, len(self.times))
        return fit_members(self.regression, self._rows(evidence), drawn, self.task, psi, keys, steps)

    def Q(
        self, psi: Parameters, observation: NDArray[np.float32], left: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """A member's Q(s, ·) with so many steps left."""
        chunks = (slice(i, i + CHUNK) for i in range(0, len(left), CHUNK))
        parts = [self._chunk(psi, observation[chunk], left[chunk]) for chunk in chunks]
        return np.concatenate(parts).astype(float)

    def _chunk(self, psi: Parameters, observation: NDArray[Any], left: NDArray[Any]) -> NDArray[Any]:
        s = padded(_standard(self.log, observation))
        return np.asarray(_q(self.regression, psi, self.task, s, padded(left)))[: len(left)]

    def _rows(self, evidence: Evidence) -> Rows:
        columns: Any = (np.asarray(column)[self.some] for column in self.log.rows)
        batch: Any = Transition(*columns)
        batch = batch._replace(
            observation=_standard(self.log, batch.observation),
            next_observation=_standard(self.log, batch.next_observation),
        )
        columns = (jnp.asarray(padded(column)) for column in batch)
        return Rows(Transition(*columns), jnp.asarray(padded(evidence.pi_next[self.some])))


def assemble(log: Log, criterion: Criterion, members: int, rng: np.random.Generator) -> Ensemble:
    members = min(members, log.episodes)
    fold = rng.permutation(log.episodes) % members
    others = fold != np.arange(members)[:, None]
    some = np.sort(rng.choice(len(log), ROWS, replace=False)) if len(log) > ROWS else np.arange(len(log))
    return Ensemble(
        log,
        Regression(MLP(log.spec.observation_size + 1, HIDDEN, log.spec.actions)),
        _task(log, criterion),
        fold,
        np.stack([rng.multinomial(log.episodes, each / each.sum()) for each in others]),
        some,
    )


def _task(log: Log, criterion: Criterion) -> Task:
    reward = np.asarray(log.rows.reward)
    size = float(np.abs(reward).mean()) or 1.0
    bounds = jnp.asarray([reward.min(), reward.max()])
    return Task(criterion.gamma, criterion.steps, bounds, UNIT * size * criterion.span())


def _shares(log: Log, some: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int32]:
    """The rows' shares in the draws, added up to 2³¹; padding has none."""
    ended = np.asarray(log.rows.terminated)[some]
    share = times[log.episode[some]].astype(float)
    ends, others = share[ended].sum(), share[~ended].sum()
    if ends > 0.0:
        share[ended] *= max(1.0, ENDS / (1.0 - ENDS) * others / ends)
    reached = padded((np.cumsum(share) / share.sum() * (2.0**31 - 1)).astype(np.int32))
    reached[len(some) :] = 2**31 - 1
    return reached


def _standard(log: Log, observation: NDArray[np.float32]) -> NDArray[np.float32]:
    mean, scale = log.scaling()
    return (observation - mean) / scale


@jax.jit
def _q(
    regression: Regression, psi: Parameters, task: Task, observation: Array, left: Array
) -> Float[Array, "n A"]:
    return regression.q(psi, task, observation, left)
