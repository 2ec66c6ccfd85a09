"""Which estimate to trust, and why, in a sentence."""

from offnac.evaluation.off_policy.estimate import Estimate
from offnac.logs import FITTED

ENOUGH = 100.0
"""Effective episodes from which on a sum over Π ρ has the tails that its interval asks for."""

DOUBLY_ROBUST, FITTED_Q, MARGINALISED = "doubly_robust", "fitted_q", "marginalised"


def recommend(
    estimates: dict[str, Estimate], effective_episodes: float, episodes: int, behaviour: str | None
) -> tuple[str, str]:
    """Fitted Q evaluation, whose error does not grow exponentially with the horizon; but its corrected form
    where the correction costs nothing: there it also survives a Q̂ that is off."""
    robust, fitted = estimates[DOUBLY_ROBUST], estimates[FITTED_Q]
    if behaviour == FITTED:
        return FITTED_Q, "the behaviour's probabilities are fitted, and it does not need them"
    if effective_episodes >= ENOUGH and robust.high - robust.low <= fitted.high - fitted.low:
        return DOUBLY_ROBUST, (
            f"the weights of whole episodes are even enough ({effective_episodes:,.0f} effective of "
            f"{episodes:,}) to correct what the fitted values get wrong"
        )
    return FITTED_Q, (
        f"the weights of whole episodes are worth {effective_episodes:,.1f} of {episodes:,}, and it does not "
        f"need them; {_agreement(fitted, estimates[MARGINALISED])}"
    )


def _agreement(fitted: Estimate, marginalised: Estimate) -> str:
    apart = marginalised.low > fitted.high or marginalised.high < fitted.low
    return f"the marginalised estimate {'disagrees' if apart else 'agrees'} with it"
