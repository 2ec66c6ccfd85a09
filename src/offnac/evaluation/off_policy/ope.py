"""The value of a policy from somebody else's log, by every estimator, side by side."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from offnac.errors import UserError
from offnac.evaluation.audit import audit
from offnac.evaluation.off_policy import (
    behaviour,
    doubly_robust,
    marginal,
    marginalised,
    marginalised_doubly_robust,
    per_decision,
    weighted,
    weighted_per_decision,
)
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate
from offnac.evaluation.off_policy.evidence import Evidence, gather
from offnac.evaluation.off_policy.fitted import network, tabular
from offnac.evaluation.off_policy.fitted.table import Table, tabulate
from offnac.evaluation.off_policy.recommendation import Weights, recommend
from offnac.logs import Log
from offnac.logs.propensity import describe_behaviour, known_behaviour
from offnac.saved_policy import Policy

STAGES = 4
"""How often progress is told: both fits, both sides' estimates."""
LONGEST = 100_000
"""The longest time limit, in steps."""


class SideBySide(NamedTuple):
    estimates: dict[str, Estimate]
    weights: Weights


def ope(
    policy: Policy,
    log: Log,
    *,
    gamma: float = 0.99,
    max_steps: int | None = None,
    seed: int = 0,
    report: Callable[[int], None] = lambda stages: None,
) -> dict[str, Any]:
    """Discounted values, and undiscounted ones of episodes of at most ``max_steps`` steps (default: as many
    as the longest logged episode has)."""
    if log.episodes < 2:
        raise UserError(
            f"an interval needs at least two episodes, but {log.spec.name} holds {log.episodes}; give more"
        )
    log = known_behaviour(log)
    steps = min(int(np.asarray(log.rows.step).max()) + 1, LONGEST) if max_steps is None else max_steps
    evidence, table = gather(policy, log), tabulate(log)
    criteria = Criterion(gamma), Criterion(1.0, steps)
    discounted = side_by_side(evidence, table, criteria[0], seed, report)
    undiscounted = side_by_side(evidence, table, criteria[1], seed, lambda stages: report(2 + stages))
    recommended, reason = recommend(
        discounted.estimates, discounted.weights, log.behaviour, exact=table is not None
    )
    support = audit(log, policy, gamma=gamma, seed=seed)
    own, own_return = (behaviour.estimate(evidence, criterion) for criterion in criteria)
    return {
        "log": log.spec.name,
        "rows": len(log),
        "episodes": log.episodes,
        "gamma": gamma,
        "max_steps": steps,
        "estimators": {
            name: _both(value, undiscounted.estimates[name], gamma)
            for name, value in discounted.estimates.items()
        },
        "recommended": recommended,
        "reason": f"{reason}; {support['reasons'][0]}",
        "verdict": support["verdict"],
        "effective_sample_size": discounted.weights.effective_rows,
        "effective_episodes": discounted.weights.effective_episodes,
        "behaviour": _both(own, own_return, gamma) | describe_behaviour(log),
        "warnings": list(log.warnings),
    }


def side_by_side(
    evidence: Evidence,
    table: Table | None,
    criterion: Criterion,
    seed: int = 0,
    report: Callable[[int], None] = lambda stages: None,
) -> SideBySide:
    """Every estimator's answer to one question."""
    by_row = marginal.weigh(evidence, table, criterion)
    if table is None:
        promised, fitted = network.fit(evidence, by_row, criterion, seed)
    else:
        promised, fitted = tabular.fit(evidence, table, criterion)
    report(1)
    estimates = {
        "fitted_q": promised,
        "marginalised_doubly_robust": marginalised_doubly_robust.estimate(
            evidence, by_row, fitted, criterion
        ),
        "doubly_robust": doubly_robust.estimate(evidence, fitted, criterion),
        "marginalised": marginalised.estimate(evidence, by_row, fitted, criterion),
        "weighted_per_decision": weighted_per_decision.estimate(evidence, fitted, criterion),
        "weighted": weighted.estimate(evidence, fitted, criterion),
        "per_decision": per_decision.estimate(evidence, fitted, criterion),
    }
    report(2)
    log, episodes = evidence.log, evidence.effective_episodes(criterion)
    return SideBySide(estimates, Weights(by_row.effective_sample_size, len(log), episodes, log.episodes))


def _both(discounted: Estimate, undiscounted: Estimate, gamma: float) -> dict[str, Any]:
    return {
        **discounted._asdict(),
        "normalised": (1.0 - gamma) * discounted.value,
        "undiscounted": undiscounted._asdict(),
    }
