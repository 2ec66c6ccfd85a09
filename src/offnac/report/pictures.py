"""How each JAX-native task is shown: drawn where its look is known, otherwise as the numbers observed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from offnac.report import boards, drawing
from offnac.report.bars import bars


class Picture(NamedTuple):
    draw: Callable[[Any], Image.Image]
    steps_per_second: float
    """How fast the task runs, as Gymnasium shows it."""


BOARD, WALK = 12, 4
"""Steps a second of the games on a board, and of walks from cell to cell."""

PICTURES = {
    "CartPole-v1": Picture(drawing.cartpole, 50),
    "Acrobot-v1": Picture(drawing.acrobot, 15),
    "MountainCar-v0": Picture(drawing.mountain_car, 30),
    "Asterix-MinAtar": Picture(boards.board(10, 10, 4), BOARD),
    "Breakout-MinAtar": Picture(boards.board(10, 10, 4), BOARD),
    "Freeway-MinAtar": Picture(boards.board(10, 10, 7), BOARD),
    "Seaquest-MinAtar": Picture(boards.board(10, 10, 10), BOARD),
    "SpaceInvaders-MinAtar": Picture(boards.board(10, 10, 6), BOARD),
    "Pong-misc": Picture(boards.board(30, 40, 3), 30),
    "Catch-bsuite": Picture(boards.board(10, 5), WALK),
    "DeepSea-bsuite": Picture(boards.board(8, 8), WALK),
    "FourRooms-misc": Picture(boards.four_rooms, 2 * WALK),
    "FrozenLake-misc": Picture(boards.frozen_lake, WALK),
    "tabular-gridworld": Picture(boards.gridworld, WALK),
    "tabular-chain": Picture(boards.states, WALK),
    "tabular-random": Picture(boards.states, WALK),
}


def picture_of(task: str, observations: NDArray[np.float32]) -> Picture:
    """The picture of a task, of which an episode went through ``observations``."""
    return PICTURES.get(task) or Picture(bars(observations), BOARD)
