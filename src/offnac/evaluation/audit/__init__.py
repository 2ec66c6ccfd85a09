"""What is in a log, and can it support a policy?"""

from typing import Any

from offnac.evaluation.audit.contents import contents
from offnac.evaluation.audit.policy import probabilities
from offnac.evaluation.audit.support import follow
from offnac.evaluation.audit.verdict import judge
from offnac.evaluation.audit.weights import weigh
from offnac.logs import Log
from offnac.logs.propensity import known_behaviour
from offnac.saved_policy import Policy

__all__ = ["audit"]


def audit(log: Log, policy: Policy | None = None, *, gamma: float = 0.99, seed: int = 0) -> dict[str, Any]:
    """What the log holds; with a policy also how far the log bears it: ``verdict`` (supported, weak or
    unsupported), ``recommended`` and ``reasons``."""
    log = known_behaviour(log)
    found: dict[str, Any] = contents(log)
    if policy is None:
        return found | {"policy": None, "verdict": None, "reasons": []}
    pi = probabilities(policy)
    weights, support = weigh(log, pi, gamma, seed), follow(log, pi, gamma, seed)
    return (
        found | {"policy": {"gamma": gamma, **weights, "support": support}} | judge(found, weights, support)
    )
