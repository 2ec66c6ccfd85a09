"""Doubly robust with marginalised weights (Kallus and Uehara 2020): what V̂ promises, corrected by what it
gets wrong along π's way. Right where either V̂ or w is; no product of ρ, so that long horizons do no
harm."""

from offnac.evaluation.off_policy import marginal
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence, within
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.marginal import Marginal


def estimate(evidence: Evidence, weights: Marginal, fitted: Fitted, criterion: Criterion) -> Estimate:
    sums = fitted.v_start + marginal.wrong(evidence, weights, fitted, criterion)
    return within(from_influence(sums.mean(), sums), criterion.bounds(evidence.log.rows.reward))
