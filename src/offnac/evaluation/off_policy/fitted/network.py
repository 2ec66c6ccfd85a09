"""Fitted Q evaluation with networks. The interval is the members' spread: what the whole fit owes to the
episodes and to its own random numbers."""

import jax
import numpy as np
from jaxtyping import Array, Float

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_replicates
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.ensemble import Ensemble, assemble
from offnac.evaluation.off_policy.fitted.fit import Fitted

MEMBERS = 8
STEPS = 5000


def fit(evidence: Evidence, criterion: Criterion, seed: int) -> Fitted:
    ensemble = assemble(evidence.log, criterion, MEMBERS, np.random.default_rng(seed))
    begin_key, fit_key = jax.random.split(jax.random.key(seed))
    psi = ensemble.fit(evidence, ensemble.begin(begin_key), fit_key, STEPS)
    return _judged(ensemble, psi, evidence, criterion)


def promised(
    ensemble: Ensemble, psi: Float[Array, "m k"], evidence: Evidence, criterion: Criterion
) -> tuple[Estimate, Float[np.ndarray, " E"]]:
    """E[V̂(s₀)] by the members, each over its own resample, and V̂(s₀) by each episode's judge."""
    starts = evidence.log.starts
    s, left = (
        np.asarray(evidence.log.rows.observation)[starts],
        np.full(len(starts), criterion.steps, np.float32),
    )
    V = np.stack([(evidence.pi[starts] * ensemble.Q(member, s, left)).sum(axis=1) for member in psi])
    values = (ensemble.times * V).sum(axis=1) / ensemble.times.sum(axis=1)
    return from_replicates(values), V[ensemble.fold, np.arange(len(starts))]


def _judged(ensemble: Ensemble, psi: Float[Array, "m k"], evidence: Evidence, criterion: Criterion) -> Fitted:
    log, rows = evidence.log, evidence.log.rows
    left = np.maximum(criterion.left(rows.step), 1.0).astype(np.float32)
    going = ~np.asarray(rows.terminated) & (left > 1.0)
    q, v, v_next = np.zeros((3, len(log)))
    for k, member in enumerate(psi):
        mine = np.flatnonzero(ensemble.fold[log.episode] == k)
        Q = ensemble.Q(member, np.asarray(rows.observation)[mine], left[mine])
        Q_next = ensemble.Q(member, np.asarray(rows.next_observation)[mine], left[mine] - 1.0)
        q[mine] = Q[np.arange(len(mine)), np.asarray(rows.action)[mine]]
        v[mine] = (evidence.pi[mine] * Q).sum(axis=1)
        v_next[mine] = going[mine] * (evidence.pi_next[mine] * Q_next).sum(axis=1)
    estimate, v_start = promised(ensemble, psi, evidence, criterion)
    return Fitted(estimate, q, v, v_next, v_start)
