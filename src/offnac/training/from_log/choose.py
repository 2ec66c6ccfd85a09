"""Which candidate is returned, from the log alone, and why."""

from typing import Any

import numpy as np

from offnac.errors import UserError
from offnac.training.from_log.judge import Judgement

ERRORS = 1.0
"""How many standard errors a candidate may stay behind the best one."""


def choose(judgement: Judgement, every: int, iterations: int) -> dict[str, Any]:
    """The earliest candidate that held-out episodes cannot tell from the best one.

    Later ones have gone further from the data for a gain that cannot be seen in it: there over-estimates
    and drift begin.
    """
    value, influence, size = judgement
    finite = np.isfinite(value) & np.isfinite(influence).all(axis=1)
    if not finite.any():
        raise UserError(
            "learning diverged: no policy has a finite value on the held-out episodes; "
            "check the log for extreme numbers with offnac audit"
        )
    best = int(np.argmax(np.where(finite, value, -np.inf)))
    behind = np.sqrt(((influence[best] - influence) ** 2).sum(axis=1))
    chosen = int(np.flatnonzero(finite & (value[best] - value <= ERRORS * behind))[0])
    return {
        "candidate": chosen,
        "iteration": min((chosen + 1) * every, iterations),
        "of": iterations,
        "value": float(value[chosen]),
        "standard_error": float(np.sqrt((influence[chosen] ** 2).sum())),
        "effective_sample_size": float(size[chosen]),
        "best": {
            "iteration": min((best + 1) * every, iterations),
            "value": float(value[best]),
            "behind": float(behind[chosen]),
        },
        "reason": (
            "it has the highest value on held-out episodes"
            if chosen == best
            else "it is the earliest that held-out episodes cannot tell from the best"
        ),
    }
