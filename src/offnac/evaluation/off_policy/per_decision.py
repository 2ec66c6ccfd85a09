"""Per-decision importance sampling: each reward weighted by Π ρ of the decisions that led to it.

Unbiased where μ is known; its variance grows exponentially with the horizon. What follows where an episode
was cut short is V̂'s.
"""

import numpy as np
from numpy.typing import NDArray

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted


def earned(evidence: Evidence, fitted: Fitted, criterion: Criterion) -> NDArray[np.float64]:
    """γ^t (r + γ V̂(s′) where the episode was cut short) of each row."""
    rows = evidence.log.rows
    tail = criterion.gamma * evidence.cut * fitted.v_next
    return criterion.discount(rows.step) * (np.asarray(rows.reward, float) + tail)


def estimate(evidence: Evidence, fitted: Fitted, criterion: Criterion) -> Estimate:
    sums = evidence.per_episode(evidence.weight * earned(evidence, fitted, criterion))
    return from_influence(sums.mean(), sums)
