"""Gymnasium's spaces as offnac sees them: vectors of numbers, and actions numbered from 0."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offnac.errors import UserError


def require_known(observed: Any, actions: Any, name: str, advice: str) -> None:
    """Refuse spaces that are not vectors and numbered actions."""
    from gymnasium.spaces import Box, Discrete

    if not isinstance(actions, Discrete):
        raise UserError(f"only discrete actions are supported, and {name} has {actions}; {advice}")
    if not isinstance(observed, Box | Discrete):
        raise UserError(
            f"only Box and Discrete observations are supported, and {name} has {observed}; {advice}"
        )


def size(observed: Any) -> int:
    """How many numbers an observation is."""
    return int(observed.n) if is_discrete(observed) else math.prod(observed.shape)


def flat(observed: Any, observations: ArrayLike) -> NDArray[np.float32]:
    """[n, size], never the array that came, of n observations: a Box flattened, a Discrete one one-hot."""
    if not is_discrete(observed):
        values = np.array(observations, np.float32)
        return values.reshape(len(values), -1)
    numbers = np.asarray(observations).reshape(-1) - int(observed.start)
    one_hot = np.zeros((len(numbers), int(observed.n)), np.float32)
    one_hot[np.arange(len(numbers)), numbers] = 1.0
    return one_hot


def is_discrete(space: Any) -> bool:
    return hasattr(space, "n")
