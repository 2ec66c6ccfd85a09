"""Marginalised importance sampling (Liu et al. 2018): rows weighted by ω = w(s)ρ, w = d̃_π/D, not by Π ρ.

Its variance does not grow exponentially with the horizon; its bias is that of w.
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
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.fitted.table import Table
from offnac.logs import Log
from offnac.ratios import Fourier, Identity, LeastSquares
from offnac.transition import Spec

ROWS = 1 << 16
"""Rows that w is estimated from."""
FEATURES = 128


class Marginalised(NamedTuple):
    estimate: Estimate
    effective_sample_size: float
    """Of ω, in rows."""


def estimate(evidence: Evidence, table: Table | None, fitted: Fitted, criterion: Criterion) -> Marginalised:
    rows = evidence.log.rows
    omega = _w(evidence, table, criterion) * evidence.rho
    share = omega / omega.sum()
    span = criterion.span(float(share @ rows.terminated))
    value = float(share @ rows.reward) * span
    # To first order w and ρ err by what π's own V does not explain.
    delta = rows.reward + criterion.gamma * fitted.v_next - fitted.v
    influence = fitted.v_start + evidence.log.episodes * span * evidence.per_episode(share * delta)
    return Marginalised(from_influence(value, influence), float(1.0 / (share**2).sum()))


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
