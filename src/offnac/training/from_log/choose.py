"""Which candidate is returned, from the log alone, and why."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.errors import UserError
from offnac.training.from_log.judge import Judgement

ERRORS = 2.0
"""Standard errors by which a candidate must be worse than the best one to count as worse."""
NEIGHBOURS = 2
"""Candidates on either side that a judgement is averaged with: neighbours differ little, their critics' noise
does not."""


def choose(judgement: Judgement, every: int, iterations: int) -> dict[str, Any]:
    """The latest candidate that held-out episodes do not show to be worse than the best one.

    The policy improves by small steps, each of them too small to be seen in the held-out episodes; what can
    be seen there is that it went wrong, by drift or by trust in over-estimates: nothing after that counts.
    """
    finite = np.isfinite(judgement.value) & np.isfinite(judgement.influence).all(axis=1)
    known = np.flatnonzero(finite)
    if not len(known):
        raise UserError(
            "learning diverged: no policy has a finite value on the held-out episodes; "
            "check the log for extreme numbers with offnac audit"
        )
    value, influence = smoothed(judgement.value[known]), smoothed(judgement.influence[known])
    best = int(np.argmax(value))
    gap, error = value[best] - value, np.sqrt(((influence[best] - influence) ** 2).sum(axis=1))
    chosen = int(np.flatnonzero(gap <= ERRORS * error)[-1])

    def describe(place: int) -> dict[str, Any]:
        number = int(known[place])
        return {
            "iteration": min((number + 1) * every, iterations),
            "value": float(value[place]),
            "standard_error": float(np.sqrt((influence[place] ** 2).sum())),
            "effective_sample_size": float(judgement.effective_sample_size[number]),
        }

    last = chosen == len(value) - 1
    return {
        "candidate": int(known[chosen]),
        **describe(chosen),
        "of": iterations,
        "best": describe(best),
        "reason": (
            "it is the last one, and held-out episodes do not show it to be worse than any before"
            if last
            else "it is the latest one that held-out episodes do not show to be worse than the best; "
            f"the last one falls short of that by {gap[-1]:.4g} ± {error[-1]:.2g}"
        ),
    }


def smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each averaged with its neighbours."""
    return np.array(
        [values[max(0, i - NEIGHBOURS) : i + NEIGHBOURS + 1].mean(axis=0) for i in range(len(values))]
    )
