"""Rows of a behaviour in a simulator, to hold what was learned against."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.behaviour import Behaviour
from offnac.environments import HostEnvironment, is_native
from offnac.environments.environment import Environment
from offnac.logs import Log, read_log
from offnac.logs.collect import collect

ROWS, HOST_ROWS = 1 << 15, 1 << 12
"""Of a simulator in JAX, and of one that is stepped in Python."""


def collected(environment: Environment | HostEnvironment, behaviour: Behaviour, seed: int) -> Log:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        collect(environment, behaviour, ROWS if is_native(environment) else HOST_ROWS, path, seed)
        return read_log(path)


def returns_to_go(
    episode: NDArray[Any],
    reward: NDArray[Any],
    terminated: NDArray[Any],
    following: NDArray[Any],
    gamma: float,
) -> NDArray[np.float64]:
    """The discounted return from each row on; where an episode was cut short, ``following``, the value of its
    next state, stands for the rest."""
    last = np.append(np.diff(episode) > 0, True)
    found = np.asarray(reward, float) + gamma * np.where(last & ~np.asarray(terminated), following, 0.0)
    # By doubling: from what n steps bring to what 2n do.
    ahead = 1
    while ahead < len(found):
        same = episode[ahead:] == episode[:-ahead]
        if not same.any():
            break
        found[:-ahead] += np.where(same, gamma**ahead * found[ahead:], 0.0)
        ahead *= 2
    return found
