"""Marginalised weights: ω = w(s)ρ, w = d̃_π/D, in place of Π ρ. Their variance does not grow exponentially
with the horizon; their bias is that of w.

J = E_ω[r] Σ_{t < steps} (γ(1 − p))^t, where p = E_ω[terminated]: exact for the discounted value, where the
direct form's own equation for the function 1 fixes the mass of d̃_π so. With a time limit w is that of
γ = 1 − 1/steps, a geometric horizon with the same mean, and p is taken for constant along an episode.
"""

from dataclasses import replace
from math import isinf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offnac.evaluation.audit.weights import visitation
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.fitted.table import Table
from offnac.logs import Log
from offnac.ratios import Fourier, Identity, LeastSquares
from offnac.transition import Spec

ROWS = 1 << 16
"""Rows that w is estimated from."""
FEATURES = 128


class Marginal(NamedTuple):
    share: NDArray[np.float64]
    """ω of each row, over its sum."""
    span: float
    """Σ_{t < steps} (γ(1 − p))^t: how many steps' worth of rewards an episode of π adds up to."""

    @property
    def effective_sample_size(self) -> float:
        """In rows."""
        return float(1.0 / (self.share**2).sum())


def weigh(evidence: Evidence, table: Table | None, criterion: Criterion) -> Marginal:
    omega = _w(evidence, table, criterion) * evidence.rho
    share = omega / omega.sum()
    return Marginal(share, criterion.span(float(share @ evidence.log.rows.terminated)))


def wrong(
    evidence: Evidence, marginal: Marginal, fitted: Fitted, criterion: Criterion
) -> NDArray[np.float64]:
    """What each episode shows V̂ to get wrong along π's way; their mean corrects V̂(s₀)."""
    delta = evidence.log.rows.reward + criterion.gamma * fitted.v_next - fitted.v
    return evidence.log.episodes * marginal.span * evidence.per_episode(marginal.share * delta)


def _w(evidence: Evidence, table: Table | None, criterion: Criterion) -> NDArray[np.float64]:
    gamma = criterion.gamma if isinf(criterion.steps) else 1.0 - 1.0 / criterion.steps
    log = evidence.log if table is None else _one_hot(evidence.log, table)
    features: Any = Fourier(FEATURES) if table is None else Identity()
    count = len(features.one(log.spec.observation_size))
    # A made-up row of w = 1 for each feature: the fewer rows, the nearer w stays to 1.
    estimator = LeastSquares("direct", features, ridge=count / min(len(log), ROWS))
    return visitation(log, evidence.rho, gamma, 0, estimator, ROWS)


def _one_hot(log: Log, table: Table) -> Log:
    states: Any = np.eye(table.size, dtype=np.float32)
    rows = log.rows._replace(observation=states[table.s], next_observation=states[table.s_next])
    return replace(log, spec=Spec(log.spec.name, table.size, log.spec.actions), rows=rows)
