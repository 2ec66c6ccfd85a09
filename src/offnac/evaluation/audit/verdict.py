"""Supported, weak or unsupported, with the reasons in words.

The bounds were set on simulated logs (CartPole, Acrobot, Mountain Car, finite MDPs; seeds below 1000), where
the share of a policy's true visits that lie outside the log can be counted; see docs/logs.md.
"""

from typing import Any, NamedTuple

SUPPORTED, WEAK, UNSUPPORTED = "supported", "weak", "unsupported"
VERDICTS = (SUPPORTED, WEAK, UNSUPPORTED)
"""From the best to the worst."""

BARELY_HELD = (0.10, 0.45)
"""Shares of the policy's weight that the log barely holds, from which on it is weak, and unsupported."""
NEVER_TAKEN = (0.10, 0.30)
"""The same of its choices that are actions which the behaviour never takes: no map is needed to know it."""
LATE = (0.50, 0.60)
"""The same of its weight that comes later than logged episodes last. In a task without memory states and
actions are what counts, so this alone makes it weak at most; worse where these are barely held, too."""
EPISODES = (30.0, 10.0)
"""Effective numbers of episodes below which it is weak, and unsupported; a small log of the policy's own
behaviour is still its own, so this counts only where the weights are uneven."""
EVEN = 0.7
"""An effective sample size of wρ, as a share of the rows, that makes the weights even."""
POOR_FIT = 0.05
"""Expected calibration error of fitted probabilities from which on nothing is better than weak."""

SAID = {
    SUPPORTED: "the log supports this policy",
    WEAK: "the log supports this policy weakly: take estimates of its value with caution",
    UNSUPPORTED: "the log does not support this policy: it is not recommended, and no estimate of its value "
    "from this log should be trusted",
}


class Reason(NamedTuple):
    verdict: str
    text: str


def judge(contents: dict[str, Any], weights: dict[str, Any], support: dict[str, Any]) -> dict[str, Any]:
    """The worst of what each number says, and all reasons for being that bad or the good news."""
    if _is_the_behaviour(contents, weights, support):
        reasons = [
            Reason(SUPPORTED, "it hardly differs from the behaviour, so the log shows its own episodes")
        ]
    else:
        reasons = [
            _held(support, contents),
            _late(support),
            _never_taken(weights),
            _episodes(weights, contents),
        ]
    reasons.append(_behaviour(contents, weights))
    verdict = max((reason.verdict for reason in reasons), key=VERDICTS.index)
    # Where something is wrong, the good news would only bury it.
    told = [
        reason.text
        for reason in reasons
        if reason.text and (reason.verdict != SUPPORTED or verdict == SUPPORTED)
    ]
    return {
        "verdict": verdict,
        "recommended": verdict != UNSUPPORTED,
        "reasons": [SAID[verdict], *told],
    }


def _is_the_behaviour(contents: dict[str, Any], weights: dict[str, Any], support: dict[str, Any]) -> bool:
    """Whether ρ is so near 1 that even its product over an episode would leave half of the episodes."""
    left = 1.0 / (1.0 + float(weights["chi_square"]))
    horizon = min(contents["lengths"]["mean"], support["horizon"])
    return bool(left > 0.9 and left**horizon > 0.5)


def _by(value: float, bounds: tuple[float, float]) -> str:
    return VERDICTS[sum(value >= bound for bound in bounds)]


def _held(support: dict[str, Any], contents: dict[str, Any]) -> Reason:
    share = support["barely_held"]
    verdict = _by(share, BARELY_HELD)
    text = f"{share:.0%} of its weight lies in states and actions that the log barely holds"
    if verdict != SUPPORTED:
        text += (
            ", mostly by its states" if support["states"] > support["actions"] else ", mostly by its actions"
        )
        if where := _where(support["centre"], contents["features"]):
            text += f"; there {where}"
    return Reason(verdict, text)


def _where(shift: list[float] | None, features: list[dict[str, Any]]) -> str:
    """The feature that sets those states apart most, if any does."""
    if not shift:
        return ""
    i = max(range(len(shift)), key=lambda i: abs(shift[i]))
    if abs(shift[i]) < 0.5:
        return ""
    side = "above" if shift[i] > 0 else "below"
    return f"{features[i]['name']} is on average {abs(shift[i]):.1f} SD {side} its mean in the log"


def _late(support: dict[str, Any]) -> Reason:
    share = support["late"]
    if share < LATE[0]:
        return Reason(SUPPORTED, "")
    worse = share >= LATE[1] and support["barely_held"] >= BARELY_HELD[0]
    return Reason(
        UNSUPPORTED if worse else WEAK,
        f"{share:.0%} of its weight comes after step {support['longest']:.0f}, later than logged episodes "
        "last",
    )


def _never_taken(weights: dict[str, Any]) -> Reason:
    """E[ρ] is the probability that π gives to actions that μ takes at all."""
    missing = 1.0 - weights["mean_rho"] - 2.0 * weights["mean_rho_se"]
    verdict = _by(missing, NEVER_TAKEN)
    if verdict == SUPPORTED:
        return Reason(SUPPORTED, "")
    return Reason(
        verdict, f"at least {missing:.0%} of its choices are actions that the log's behaviour does not take"
    )


def _episodes(weights: dict[str, Any], contents: dict[str, Any]) -> Reason:
    size = weights["effective_sample_size"]
    few = VERDICTS[sum(size["episodes"] < bound for bound in EPISODES)]
    if size["episodes"] > contents["episodes"] / 2:
        few = min(few, WEAK, key=VERDICTS.index)  # there are not more to be had
    text = (
        f"its weights leave {size['rows']:,.0f} effective rows of {contents['rows']:,} and "
        f"{size['episodes']:,.1f} effective episodes of {contents['episodes']:,}"
    )
    return Reason(SUPPORTED if size["w_rho"] >= EVEN else few, text)


def _behaviour(contents: dict[str, Any], weights: dict[str, Any]) -> Reason:
    behaviour = contents["behaviour"]
    if behaviour["source"] == "fitted" and behaviour.get("expected_calibration_error", 0.0) > POOR_FIT:
        error = behaviour["expected_calibration_error"]
        return Reason(WEAK, f"the behaviour’s probabilities are fitted, and off by {error:.2f} on average")
    if _beyond(behaviour["mean_inverse"], behaviour["mean_inverse_se"], contents["actions"]):
        return Reason(
            WEAK,
            f"the probabilities of the actions cannot be right: 1/μ is {behaviour['mean_inverse']:.2f} on "
            f"average, where {contents['actions']} actions allow at most {contents['actions']}",
        )
    if _beyond(weights["mean_rho"], weights["mean_rho_se"], 1.0):
        return Reason(
            WEAK,
            f"the probabilities of the actions cannot be right: π/μ is {weights['mean_rho']:.2f} on average, "
            "not 1",
        )
    if behaviour["source"] == "fitted":
        return Reason(SUPPORTED, "all weights rest on fitted probabilities of the behaviour")
    return Reason(SUPPORTED, "")


def _beyond(mean: float, se: float, bound: float) -> bool:
    """Above the bound by more than chance and rounding."""
    return mean - 5.0 * se > 1.05 * bound
