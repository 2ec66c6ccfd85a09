"""Rollouts of μ on the host.

The paper's μ asks nothing of the learner. So a seed plays its rollout at once, not in lockstep with
others, and learns from many steps in one call of a program.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offnac.environments import HostEnvironment
from offnac.training.programs import Rows
from offnac.transition import Spec, blank

BLOCK = 128
"""Steps that are drawn, and learned from, in one call: few episodes of Lunar Lander are longer under μ."""

Row = tuple[Any, ...]
"""One step: the fields of :class:`Transition`."""


def follow(
    simulator: HostEnvironment,
    observation: NDArray[Any],
    shown: Callable[[NDArray[Any]], NDArray[Any]],
    draw: Callable[[int], Sequence[int]],
) -> Iterator[Row]:
    """Play the episode that has begun with ``observation``; ``draw`` gives some actions from a step on."""
    prob = np.float32(1.0 / simulator.spec.actions)
    step, done = 0, False
    while not done:
        for action in draw(step):
            following, reward, terminated, truncated = simulator.step(action)
            following = shown(following)
            yield observation, action, reward, following, terminated, truncated, prob, step
            observation, step, done = following, step + 1, terminated or truncated
            if done:
                break


def stacked(rows: Sequence[Row], size: int, spec: Spec) -> Rows:
    """The rows as columns, with room for ``size``: as many in every call, so that a program is compiled
    once."""
    columns: Any = blank((size,), spec, np)
    # Where there are no rows there are no columns of them either.
    for column, values in zip(columns, zip(*rows, strict=True), strict=bool(rows)):
        column[: len(rows)] = values
    return Rows(columns, len(rows))
