"""Doubly robust: what Q̂ promises, corrected by per-decision importance sampling of what it got wrong.

Unbiased where μ is known, whatever Q̂; exact where Q̂ is, whatever μ. Q̂ has not seen the episodes that it is
corrected by, and a cut-short episode needs no care: beyond it there is nothing to correct.
"""

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted


def estimate(evidence: Evidence, fitted: Fitted, criterion: Criterion) -> Estimate:
    rows = evidence.log.rows
    delta = rows.reward + criterion.gamma * fitted.v_next - fitted.q
    corrections = evidence.per_episode(criterion.discount(rows.step) * evidence.weight * delta)
    sums = fitted.v_start + corrections
    return from_influence(sums.mean(), sums)
