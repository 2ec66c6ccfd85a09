"""Which estimate to trust, and why, in a sentence."""

from typing import NamedTuple

from offnac.evaluation.off_policy.estimate import Estimate
from offnac.logs import FITTED

ENOUGH = 100.0
"""Effective episodes from which on a sum over Π ρ has the tails that its interval asks for."""

EVEN = 0.5
"""The share of the rows that marginalised weights must be worth to correct more than they spoil."""

DOUBLY_ROBUST, FITTED_Q, MARGINALISED = "doubly_robust", "fitted_q", "marginalised"
MARGINALISED_DOUBLY_ROBUST = "marginalised_doubly_robust"


class Weights(NamedTuple):
    """How many rows and episodes of π the log's are worth."""

    effective_rows: float
    rows: int
    effective_episodes: float
    episodes: int


def recommend(
    estimates: dict[str, Estimate], weights: Weights, behaviour: str | None, exact: bool
) -> tuple[str, str]:
    """Fitted Q evaluation, whose error does not grow exponentially with the horizon; but a corrected form
    where the correction costs little: there it also survives a Q̂ that is off. Where states are few
    (``exact``) Q̂ leaves nothing for marginalised weights to correct."""
    robust, fitted = estimates[DOUBLY_ROBUST], estimates[FITTED_Q]
    if behaviour == FITTED:
        return FITTED_Q, "the behaviour's probabilities are fitted, and it does not need them"
    if weights.effective_episodes >= ENOUGH and robust.high - robust.low <= fitted.high - fitted.low:
        return DOUBLY_ROBUST, (
            f"the weights of whole episodes are even enough ({weights.effective_episodes:,.0f} effective of "
            f"{weights.episodes:,}) to correct what the fitted values get wrong"
        )
    if not exact and weights.effective_rows >= EVEN * weights.rows:
        return MARGINALISED_DOUBLY_ROBUST, (
            f"the weights of rows are even enough ({weights.effective_rows:,.0f} effective of "
            f"{weights.rows:,}) to correct what the fitted values get wrong"
        )
    return FITTED_Q, (
        f"the weights of whole episodes are worth {weights.effective_episodes:,.1f} of {weights.episodes:,}, "
        f"those of rows {weights.effective_rows:,.0f} of {weights.rows:,}, and it does not need them; "
        f"{_agreement(fitted, estimates[MARGINALISED])}"
    )


def _agreement(fitted: Estimate, marginalised: Estimate) -> str:
    apart = marginalised.low > fitted.high or marginalised.high < fitted.low
    return f"the marginalised estimate {'disagrees' if apart else 'agrees'} with it"
