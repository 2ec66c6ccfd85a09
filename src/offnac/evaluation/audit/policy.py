"""A policy as an audit asks it: π(·|s) for a batch of observations."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.logs.padding import padded
from offnac.saved_policy import Policy

Probabilities = Callable[[NDArray[np.float32]], NDArray[Any]]
"""[n, d] ↦ [n, A]."""


def probabilities(policy: Policy) -> Probabilities:
    """In batches of a few sizes, for each of which a program is compiled."""
    return lambda observation: policy.probabilities(padded(observation))[: len(observation)]
