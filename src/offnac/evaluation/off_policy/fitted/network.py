"""Fitted Q evaluation with networks. The interval knows what the episodes owe to chance, by their influence
with the marginalised weights, and what the fit owes to its own random numbers, by the members' spread."""

import numpy as np

from offnac.evaluation.off_policy import marginal
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence, widened
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted import ensemble
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.marginal import Marginal

MEMBERS = 4
STEPS = 4000


def fit(evidence: Evidence, weights: Marginal, criterion: Criterion, seed: int) -> tuple[Estimate, Fitted]:
    """E[V̂(s₀)] by all members, and Q̂ on each episode by its judge."""
    log, rows = evidence.log, evidence.log.rows
    networks = ensemble.fit(evidence, criterion, MEMBERS, STEPS, seed)
    left = np.maximum(criterion.left(rows.step), 1.0).astype(np.float32)
    going = ~np.asarray(rows.terminated) & (left > 1.0)
    start = np.full(log.episodes, criterion.steps, np.float32)
    q, v, v_next = np.zeros((3, len(log)))
    v_start, by_member = np.zeros(log.episodes), []
    for k in range(len(networks.psi)):
        mine = np.flatnonzero(networks.fold[log.episode] == k)
        Q = networks.Q(k, np.asarray(rows.observation)[mine], left[mine])
        Q_next = networks.Q(k, np.asarray(rows.next_observation)[mine], left[mine] - 1.0)
        q[mine] = Q[np.arange(len(mine)), np.asarray(rows.action)[mine]]
        v[mine] = (evidence.pi[mine] * Q).sum(axis=1)
        v_next[mine] = going[mine] * (evidence.pi_next[mine] * Q_next).sum(axis=1)
        promised = networks.Q(k, np.asarray(rows.observation)[log.starts], start)
        V_start = (evidence.pi[log.starts] * promised).sum(axis=1)
        v_start[networks.fold == k] = V_start[networks.fold == k]
        by_member.append(V_start.mean())
    values = np.array(by_member)
    fitted = Fitted(q, v, v_next, v_start)
    influence = v_start + marginal.wrong(evidence, weights, fitted, criterion)
    return widened(from_influence(values.mean(), influence), values), fitted
