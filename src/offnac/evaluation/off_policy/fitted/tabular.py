"""Q̂ as a table: what the log's own frequencies make of the task, solved exactly.

Q̂ = r̂ + γ P̂ V̂ is fitted Q evaluation run to its end with one feature for each (s, a). To first order an
episode moves the estimate by V̂(s₀) − v + Σ ω(s, a)(r + γ c V̂(s′) − Q̂(s, a)), where ω is how often π visits
(s, a) in the fitted task over how often the log does: the doubly robust form with the fit's own ratio, so
that the interval knows that Q̂ was estimated.
"""

from math import isinf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.fitted.table import Table

FOLDS = 5
PRIOR = 1e-2
"""Visits of every (s, a) that are made up: it does what the log's average row does. So little that it
counts only for what was never tried."""

Array = NDArray[np.float64]


class Counts(NamedTuple):
    """Sums over rows, for each (s, a)."""

    visits: Array
    reward: Array
    following: Array
    """Of s′ where the task goes on [S·A, S]."""


class Model(NamedTuple):
    """The fitted task under π. Values have a row for each number of steps left, 0 … steps; where there is
    no time limit they have one row, which also follows itself."""

    r: Array
    """r̂(s, a) [S·A]."""
    P: Array
    """P̂(s′, c | s, a) [S·A, S]; a row lacks the probability of terminating."""
    pi: Array
    """Σ_a π(a|s) as a matrix [S, S·A]."""
    criterion: Criterion

    def V(self) -> Array:
        P, r = self.criterion.gamma * self.pi @ self.P, self.pi @ self.r
        if isinf(self.criterion.steps):
            return np.asarray(np.linalg.solve(np.eye(len(P)) - P, r)[None], float)
        V = np.zeros((int(self.criterion.steps) + 1, len(P)))
        for h in range(1, len(V)):
            V[h] = r + P @ V[h - 1]
        return V

    def Q(self, V: Array) -> Array:
        return self.r + self.criterion.gamma * a_step_later(V) @ self.P.T

    def visits(self, start: Array) -> Array:
        """γ^t P̂(s_t, a_t) under π, by the steps left at t."""
        P = self.criterion.gamma * (self.pi @ self.P).T
        if isinf(self.criterion.steps):
            d = np.linalg.solve(np.eye(len(P)) - P, start)[None]
        else:
            d = np.zeros((int(self.criterion.steps) + 1, len(P)))
            d[-1] = start
            for h in range(len(d) - 1, 1, -1):
                d[h - 1] = P @ d[h]
        return d @ self.pi


def a_step_later(V: Array) -> Array:
    return np.concatenate([V[:1], V[:-1]])


def fit(evidence: Evidence, table: Table, criterion: Criterion) -> tuple[Estimate, Fitted]:
    """E[V̂(s₀)] by all episodes, and Q̂ on each by the others."""
    log, rows = evidence.log, evidence.log.rows
    s, s_next = table.s, table.s_next
    sa = s * log.spec.actions + rows.action
    on = np.where(rows.terminated, 0.0, 1.0)
    pi = _policy(evidence, table)
    limited = not isinf(criterion.steps)
    left = np.maximum(criterion.left(rows.step), 1).astype(int) if limited else np.zeros(len(log), int)

    folds = min(FOLDS, log.episodes)
    dealt = np.random.default_rng(0).permutation(log.episodes) % folds
    parts = [_count(evidence, table, sa, mine) for mine in dealt[log.episode] == np.arange(folds)[:, None]]
    whole = Counts(*(np.sum(part, axis=0) for part in zip(*parts, strict=True)))

    q, v, v_next, v_start = (np.zeros(size) for size in (len(log), len(log), len(log), log.episodes))
    for k, part in enumerate(parts):
        model = _model(Counts(*(a - b for a, b in zip(whole, part, strict=True))), pi, criterion)
        V, own, mine = model.V(), dealt == k, dealt[log.episode] == k
        q[mine] = model.Q(V)[left[mine], sa[mine]]
        v[mine] = V[left[mine], s[mine]]
        v_next[mine] = on[mine] * a_step_later(V)[left[mine], s_next[mine]]
        v_start[own] = V[-1, s[log.starts[own]]]

    model = _model(whole, pi, criterion)
    V = model.V()
    start = np.bincount(s[log.starts], minlength=table.size) / log.episodes
    # Less a visit: a row's residual is smaller for the row's having been fitted.
    omega = model.visits(start) * (log.episodes / np.maximum(whole.visits - 1.0, 1.0))
    delta = (
        omega.sum(axis=0)[sa] * rows.reward
        + criterion.gamma * on * (omega.T @ a_step_later(V))[sa, s_next]
        - (omega * model.Q(V)).sum(axis=0)[sa]
    )
    value = float(start @ V[-1])
    influence = V[-1, s[log.starts]] - value + evidence.per_episode(delta)
    return from_influence(value, influence), Fitted(q, v, v_next, v_start)


def _policy(evidence: Evidence, table: Table) -> Array:
    actions = evidence.log.spec.actions
    pi = np.zeros((table.size, actions))
    pi[table.s_next], pi[table.s] = evidence.pi_next, evidence.pi
    return (np.eye(table.size)[:, :, None] * pi[None]).reshape(table.size, -1)


def _count(evidence: Evidence, table: Table, sa: NDArray[np.int64], mine: NDArray[np.bool_]) -> Counts:
    rows, pairs = evidence.log.rows, table.size * evidence.log.spec.actions
    on = mine & ~np.asarray(rows.terminated)
    following = np.bincount(sa[on] * table.size + table.s_next[on], minlength=pairs * table.size)
    return Counts(
        np.bincount(sa[mine], minlength=pairs).astype(float),
        np.bincount(sa[mine], weights=np.asarray(rows.reward)[mine], minlength=pairs).astype(float),
        following.reshape(pairs, table.size).astype(float),
    )


def _model(counts: Counts, pi: Array, criterion: Criterion) -> Model:
    rows, visits = counts.visits.sum(), counts.visits + PRIOR
    return Model(
        (counts.reward + PRIOR * counts.reward.sum() / rows) / visits,
        (counts.following + PRIOR * counts.following.sum(axis=0) / rows) / visits[:, None],
        pi,
        criterion,
    )
