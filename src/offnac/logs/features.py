"""What looks odd in the values of a log although each of them is in order."""

import numpy as np
from numpy.typing import NDArray

from offnac.errors import UserError
from offnac.logs.log import Log
from offnac.logs.problems import Problems


def warn_of_features(log: Log, problems: Problems) -> None:
    """Features that tell nothing, actions that nobody took, rewards that do not tell policies apart."""
    names = log.observation_names or tuple(f"observation_{i}" for i in range(log.spec.observation_size))
    observation = log.rows.observation
    constant = np.ptp(observation, axis=0) == 0
    if constant.any():
        problems.warn(
            f"{_listed(names, constant)} never changes; it is kept, but nothing can be learned from it"
        )
    if copies := _copies(np.asarray(observation), constant):
        pairs = ", ".join(f"{names[j]} (of {names[i]})" for i, j in copies[:8])
        problems.warn(f"features are copies of others: {pairs}; they are kept, and add nothing")
    untaken = np.bincount(log.rows.action, minlength=log.spec.actions) == 0
    if untaken.any():
        labels = log.action_names or tuple(str(a) for a in range(log.spec.actions))
        problems.warn(f"nobody took the action {_listed(labels, untaken)}; nothing can be learned about it")
    if reason := nothing_to_learn(log):
        problems.warn(f"{reason}: nothing can be learned from this log")


def nothing_to_learn(log: Log) -> str | None:
    """Why no policy could be told better than another from this log; None: one could.

    Rewards that are all alike but not 0 still tell to end soon or late, where episodes terminate.
    """
    if len(np.unique(log.rows.action)) < 2:
        return "every row takes the same action"
    reward = log.rows.reward
    if np.ptp(reward) > 0 or (reward[0] != 0 and log.rows.terminated.any()):
        return None
    return f"every reward is {reward[0]:g}" + ("" if reward[0] == 0 else " and no episode is terminated")


def require_learnable(log: Log) -> None:
    if reason := nothing_to_learn(log):
        raise UserError(f"nothing can be learned from {log.spec.name}: {reason}; give another log")


def _copies(observation: NDArray[np.float32], constant: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Pairs (i, j) of equal columns, i the first of its kind."""
    seen: dict[bytes, int] = {}
    pairs = []
    head = observation[: 1 << 10]
    for j in np.flatnonzero(~constant).tolist():
        i = seen.setdefault(np.ascontiguousarray(head[:, j]).tobytes(), j)
        if i != j and np.array_equal(observation[:, i], observation[:, j]):
            pairs.append((i, j))
    return pairs


def _listed(names: tuple[str, ...], chosen: NDArray[np.bool_]) -> str:
    listed = [names[i] for i in np.flatnonzero(chosen)]
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
