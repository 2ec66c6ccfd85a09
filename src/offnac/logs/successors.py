"""Where each row leads: s′ as the log has it, or the observation of the next row."""

import numpy as np
from numpy.typing import NDArray

from offnac.logs import fields
from offnac.logs.episodes import Episodes
from offnac.logs.problems import Problems, counted


def lead(
    observation: NDArray[np.float32],
    given: NDArray[np.float32] | None,
    episodes: Episodes,
    problems: Problems,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """s′ of every row, and which rows have one; a terminated row needs none."""
    where = np.arange(len(observation)) if episodes.order is None else episodes.order
    last, terminated = episodes.last, episodes.terminated
    if given is None:
        following = np.empty_like(observation)
        following[:-1] = observation[1:]
        unknown = last
    else:
        unknown = ~fields.whole_rows(given)
        problems.error_in(
            where[unknown & ~last],
            "next_observation holds missing, NaN or infinite numbers in {rows}, where the episode goes on",
        )
        following = given.copy() if unknown.any() and not given.flags.writeable else given
        _warn_of_jumps(observation, given, episodes, where, problems)
    if unknown.any():
        following[unknown] = observation[unknown]
    lost = unknown & last & ~terminated
    problems.warn_in(
        where[lost],
        f"nothing says where the last step led in {counted(int(lost.sum()), 'episode')} cut short; "
        "left out: {rows}",
    )
    if lost.all():
        problems.error("no row tells where it led, so nothing is left to learn from")
    return following, ~lost


def _warn_of_jumps(
    observation: NDArray[np.float32],
    given: NDArray[np.float32],
    episodes: Episodes,
    where: NDArray[np.int64],
    problems: Problems,
) -> None:
    differs = (given[:-1] != observation[1:]).any(axis=1)
    jumps = np.append(differs & ~episodes.last[:-1] & (np.diff(episodes.step) == 1), False)
    problems.warn_in(
        where[jumps], "next_observation is not the observation of the next step in {rows}; are rows mixed up?"
    )
