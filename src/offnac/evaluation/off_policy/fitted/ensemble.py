"""Networks fitted to the same log, each without one fold of the episodes: for these it is the judge that has
not seen them."""

from dataclasses import dataclass
from math import isinf
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.typing import NDArray

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.evidence import CHUNK, Evidence
from offnac.evaluation.off_policy.fitted import rarity
from offnac.evaluation.off_policy.fitted.regression import Regression, Rows, Task, fit_members
from offnac.logs import Log
from offnac.logs.padding import padded
from offnac.networks import MLP, Parameters
from offnac.transition import Transition

HIDDEN = (64, 64)
BATCH = 128
ROWS = 1 << 20
"""Rows that are drawn from; a fit visits no more."""
TARGET_RATE = {True: 0.1, False: 0.3}
"""Without an end in sight, and with a time limit: there a value of h steps needs the h before it, one after
the other, and what they lead to is known, so that targets need not be slow."""
UNIT = 0.2
"""Values are learned in units of this share of what rewards of their mean size add up to."""


@dataclass(frozen=True)
class Ensemble:
    regression: Regression
    task: Task
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    psi: Float[np.ndarray, "m k"]
    fold: NDArray[np.int64]
    """The member that judges each episode [E]."""

    def Q(
        self, member: int, observation: NDArray[np.float32], left: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """A member's Q(s, ·) with so many steps left."""
        chunks = (slice(i, i + CHUNK) for i in range(0, len(left), CHUNK))
        parts = [self._chunk(self.psi[member], observation[chunk], left[chunk]) for chunk in chunks]
        return np.concatenate(parts).astype(float)

    def _chunk(self, psi: Parameters, observation: NDArray[Any], left: NDArray[Any]) -> NDArray[Any]:
        s = padded((observation - self.mean) / self.scale)
        return np.asarray(_q(self.regression, psi, self.task, s, padded(left)))[: len(left)]


def fit(evidence: Evidence, criterion: Criterion, members: int, steps: int, seed: int) -> Ensemble:
    log, rng = evidence.log, np.random.default_rng(seed)
    members = min(members, log.episodes)
    fold = rng.permutation(log.episodes) % members
    some = np.sort(rng.choice(len(log), ROWS, replace=False)) if len(log) > ROWS else np.arange(len(log))
    mean, scale = log.scaling()
    network = MLP(log.spec.observation_size + 1, HIDDEN, log.spec.actions)
    regression = Regression(network, target_rate=TARGET_RATE[isinf(criterion.steps)])
    task, rows = _task(log, criterion), _rows(evidence, some, mean, scale)
    share = rarity.shares(np.asarray(rows.batch.observation)[: len(some)], rng)
    own = fold[log.episode[some]]
    drawn = np.stack([_draw(np.where(own == k, 0.0, share), steps, rng) for k in range(members)])
    psi = fit_members(regression, rows, drawn, task, seed)
    return Ensemble(regression, task, mean, scale, np.asarray(psi), fold)


def _task(log: Log, criterion: Criterion) -> Task:
    reward = np.asarray(log.rows.reward)
    size = float(np.abs(reward).mean()) or 1.0
    bounds: Any = np.array([reward.min(), reward.max()])
    return Task(criterion.gamma, criterion.steps, bounds, UNIT * size * criterion.span())


def _rows(
    evidence: Evidence, some: NDArray[np.int64], mean: NDArray[np.float32], scale: NDArray[np.float32]
) -> Rows:
    columns: Any = (np.asarray(column)[some] for column in evidence.log.rows)
    batch: Any = Transition(*columns)
    batch = batch._replace(
        observation=(batch.observation - mean) / scale,
        next_observation=(batch.next_observation - mean) / scale,
    )
    columns = (padded(column) for column in (*batch, evidence.pi_next[some]))
    *batch, pi_next = columns
    return Rows(Transition(*batch), pi_next)


def _draw(share: NDArray[np.float64], steps: int, rng: np.random.Generator) -> Int[np.ndarray, "steps b"]:
    """Batches of rows, each row as often as its share says."""
    reached = np.cumsum(share)
    drawn = np.searchsorted(reached, rng.random((steps, BATCH)) * reached[-1], side="right")
    return np.minimum(drawn, np.flatnonzero(share)[-1]).astype(np.int32)


@jax.jit
def _q(
    regression: Regression, psi: Parameters, task: Task, observation: Array, left: Array
) -> Float[Array, "n A"]:
    return regression.q(psi, task, observation, left)
