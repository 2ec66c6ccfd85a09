"""What fitted Q evaluation hands on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Fitted(NamedTuple):
    """Q̂ on every row by a fit that has not seen the row's episode."""

    q: NDArray[np.float64]
    """Q̂(s, a)."""
    v: NDArray[np.float64]
    """V̂(s)."""
    v_next: NDArray[np.float64]
    """c V̂(s′)."""
    v_start: NDArray[np.float64]
    """V̂(s₀) of each episode."""
