"""Which episodes are learned from, and which are held out to judge by."""

import numpy as np
from numpy.typing import NDArray

from offnac.logs.log import Log

HELD_OUT = 0.1
"""Share of the episodes that learning never sees."""


def split(log: Log, seed: int = 0) -> tuple[Log, Log]:
    """The log to learn from and the log to judge by; the whole log twice where there are too few episodes.

    Episodes that the task itself ended and those cut short are each divided in the same shares: where
    few episodes reach a goal, neither part must do without.
    """
    ended = np.zeros(log.episodes, bool)
    ended[log.episode[np.asarray(log.rows.terminated)]] = True
    rng = np.random.default_rng([seed, log.episodes])
    held: list[NDArray[np.int64]] = []
    for kind in (ended, ~ended):
        numbers = rng.permutation(np.flatnonzero(kind))
        held.append(numbers[: round(HELD_OUT * len(numbers))])
    chosen = np.concatenate(held)
    if not len(chosen):
        return log, log
    return log.take(np.setdiff1d(np.arange(log.episodes), chosen)), log.take(chosen)
