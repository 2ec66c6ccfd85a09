"""The states of a log where they are few, numbered."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offnac.logs import Log

LARGEST = 256
"""Pairs of a state and an action up to which values are a table."""
LOOK = 1 << 12
"""Rows that are looked at first."""


class Table(NamedTuple):
    s: NDArray[np.int64]
    """The number of each row's state."""
    s_next: NDArray[np.int64]
    size: int


def tabulate(log: Log) -> Table | None:
    """None where there are too many states for a table."""
    observation, following = (np.asarray(s) for s in (log.rows.observation, log.rows.next_observation))
    most = LARGEST // log.spec.actions
    if len(np.unique(_fingerprint(observation[:LOOK]))) > most:
        return None
    fingerprint = np.concatenate([_fingerprint(observation), _fingerprint(following)])
    states, number = np.unique(fingerprint, return_inverse=True)
    if len(states) > most:
        return None
    return Table(number[: len(log)], number[len(log) :], len(states))


def _fingerprint(observation: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A number for each observation, for sorting numbers is faster than sorting vectors; it would take 2³²
    different observations for two to share one."""
    odd = np.random.default_rng(0).integers(2**63, size=observation.shape[1], dtype=np.uint64) * 2 + 1
    bits = np.ascontiguousarray(observation + np.float32(0.0)).view(np.uint32)
    return (bits * odd).sum(axis=1, dtype=np.uint64)
