"""How far fitted probabilities of the behaviour can be believed, from rows that their model did not see."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 10
POOR = 0.05
"""Expected calibration error from which on a person is told."""


@dataclass(frozen=True)
class Calibration:
    """Of μ̂(a|s), each row judged by a model fitted without its episode."""

    model: str
    """The chosen one: frequencies, logistic or network."""
    log_likelihood: float
    """The mean of log μ̂(a|s) over rows."""
    candidates: dict[str, float]
    """The same of every model that was tried."""
    expected_calibration_error: float
    """The mean of |μ̂ − the frequency that came true|, over bins of μ̂."""
    reliability: tuple[dict[str, float], ...]
    """A row for each bin of μ̂: predicted, observed, and how many (s, a) it holds."""
    floor: float
    """No probability below this, so that no weight is beyond 1/floor."""
    floored: float
    """The share of rows whose action was given this least probability."""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reliability": list(self.reliability)}

    @property
    def warning(self) -> str:
        said = (
            "the log does not hold the probabilities of its actions; they were fitted "
            f"(model {self.model}, held-out log-likelihood {self.log_likelihood:.3f}, "
            f"calibration error {self.expected_calibration_error:.3f}), and all weights depend on them"
        )
        return said if self.expected_calibration_error < POOR else f"{said}: this fit is poor"


class Reliability:
    """Counts of predictions and of what came true, a bin for each tenth of probability."""

    def __init__(self) -> None:
        self._rows, self._predicted, self._true = np.zeros((3, BINS))

    def add(self, mu: NDArray[Any], action: NDArray[Any]) -> None:
        """``mu`` is μ̂ [n, A] and ``action`` the ones taken; every (s, a) is a prediction."""
        flat = np.asarray(mu, np.float64).ravel()
        taken = np.zeros(mu.shape)
        taken[np.arange(len(action)), action] = 1.0
        which = np.minimum((flat * BINS).astype(int), BINS - 1)
        self._rows += np.bincount(which, minlength=BINS)
        self._predicted += np.bincount(which, weights=flat, minlength=BINS)
        self._true += np.bincount(which, weights=taken.ravel(), minlength=BINS)

    def error(self) -> float:
        return float(np.abs(self._predicted - self._true).sum() / self._rows.sum())

    def table(self) -> tuple[dict[str, float], ...]:
        return tuple(
            {"predicted": p / n, "observed": t / n, "count": int(n)}
            for n, p, t in zip(*(x.tolist() for x in (self._rows, self._predicted, self._true)), strict=True)
            if n > 0
        )
