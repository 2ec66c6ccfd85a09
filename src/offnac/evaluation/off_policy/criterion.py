"""What is asked of a policy: J = E[Σ_{t < steps} γ^t r_t] from s₀ ~ d₀."""

from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Criterion:
    """The discounted value has γ < 1 and no end in sight, an episode's return γ = 1 and a time limit."""

    gamma: float
    steps: float = inf

    def discount(self, step: ArrayLike) -> NDArray[np.float64]:
        """γ^t; 0 from the time limit on."""
        t = np.asarray(step, float)
        return np.where(t < self.steps, self.gamma**t, 0.0)

    def left(self, step: ArrayLike) -> NDArray[Any]:
        """Steps that are left when t are done."""
        return np.maximum(self.steps - np.asarray(step, float), 0.0)

    def span(self, hazard: float = 0.0) -> float:
        """Σ_{t < steps} γ^t P(t), where each step is the last with probability ``hazard``."""
        kept = self.gamma * (1.0 - hazard)
        if kept >= 1.0:
            return self.steps
        return (1.0 - (0.0 if isinf(self.steps) else kept**self.steps)) / (1.0 - kept)

    def bounds(self, rewards: ArrayLike) -> tuple[float, float]:
        """The least and the greatest value that such rewards can make, in a task that may end at any step."""
        r = np.asarray(rewards)
        low, high, span = float(r.min()), float(r.max()), self.span()
        return min(low, low * span), max(high, high * span)
