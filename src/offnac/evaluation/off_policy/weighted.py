"""Weighted importance sampling: whole returns, weighted by Π ρ over their episodes, over the sum of weights.

Biased towards the returns of the few episodes that weigh most, but bounded by the returns that were seen.
"""

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.per_decision import earned


def estimate(evidence: Evidence, fitted: Fitted, criterion: Criterion) -> Estimate:
    returns = evidence.per_episode(earned(evidence, fitted, criterion))
    weight = evidence.episode_weight(criterion)
    value = (weight * returns).sum() / weight.sum()
    return from_influence(value, weight / weight.mean() * (returns - value))
