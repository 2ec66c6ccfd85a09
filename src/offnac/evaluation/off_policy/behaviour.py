"""The behaviour's own value: the mean of its returns, as logged. What an episode that was cut short would
still have earned is not in it."""

import numpy as np

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence


def estimate(evidence: Evidence, criterion: Criterion) -> Estimate:
    rows = evidence.log.rows
    returns = evidence.per_episode(criterion.discount(rows.step) * np.asarray(rows.reward, float))
    return from_influence(returns.mean(), returns)
