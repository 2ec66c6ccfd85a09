"""Marginalised importance sampling (Liu et al. 2018): the mean reward by marginalised weights, times the
steps that it is earned for. To first order w and ρ err by what π's own V does not explain."""

from offnac.evaluation.off_policy import marginal
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.marginal import Marginal


def estimate(evidence: Evidence, weights: Marginal, fitted: Fitted, criterion: Criterion) -> Estimate:
    value = float(weights.share @ evidence.log.rows.reward) * weights.span
    return from_influence(value, fitted.v_start + marginal.wrong(evidence, weights, fitted, criterion))
