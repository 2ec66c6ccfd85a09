"""Tasks on a board of cells as pictures: what the observation holds in each cell decides its colour."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from offnac.report.canvas import BODY, GOAL, HEIGHT, INK, LIMB, WIDTH, Canvas

MARGIN = 12
COLOURS = (BODY, LIMB, GOAL, "#a0467f", "#6b5b00", "#56b4e9", "#f2a33a", "#3fcf9f", "#dd9cc6", INK)
"""Of the things that may be in a cell, in the order of the observation's layers."""
EMPTY = "#ece8dd"


def board(rows: int, columns: int, layers: int = 1) -> Callable[[Any], Image.Image]:
    """Draws observations that are a flat [rows, columns, layers]; a higher layer lies on top."""

    def draw(observation: Any) -> Image.Image:
        there = np.asarray(observation, float).reshape(rows, columns, layers) > 0
        top = layers - 1 - np.argmax(there[:, :, ::-1], axis=2)
        return cells(np.where(there.any(axis=2), top + 1, 0), (EMPTY, *COLOURS))

    return draw


def cells(kinds: NDArray[Any], colours: Sequence[str]) -> Image.Image:
    """A board whose cells are of numbered kinds."""
    rows, columns = kinds.shape
    size = min((WIDTH - 2 * MARGIN) / columns, (HEIGHT - 2 * MARGIN) / rows)
    canvas = Canvas(scale=size, origin=((WIDTH - size * columns) / 2, (HEIGHT - size * rows) / 2))
    gap = 0.04
    for row in range(rows):
        for column in range(columns):
            left, right, top, bottom = column + gap, column + 1 - gap, -row - gap, -row - 1 + gap
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            canvas.polygon(corners, colours[int(kinds[row, column])])
    return canvas.image()


def four_rooms(observation: Any) -> Image.Image:
    """s = (row, column, the goal's row, its column)."""
    row, column, goal_row, goal_column = (int(number) for number in observation)
    kinds = np.where(_rooms(), 0, 1)
    kinds[goal_row, goal_column] = 2
    kinds[row, column] = 3
    return cells(kinds, (EMPTY, INK, GOAL, LIMB))


def frozen_lake(observation: Any) -> Image.Image:
    """s is one-hot over 4 × 4 cells: start and ice, holes, the goal in the last corner."""
    kinds = np.zeros(16, int)
    kinds[[5, 7, 11, 12]], kinds[15] = 1, 2
    kinds[int(np.argmax(observation))] = 3
    return cells(kinds.reshape(4, 4), (EMPTY, BODY, GOAL, LIMB))


def gridworld(observation: Any) -> Image.Image:
    """s is one-hot over 4 × 4 cells, the goal in the last corner."""
    kinds = np.zeros(16, int)
    kinds[15] = 1
    kinds[int(np.argmax(observation))] = 2
    return cells(kinds.reshape(4, 4), (EMPTY, GOAL, LIMB))


def states(observation: Any) -> Image.Image:
    """A finite task without a map: its states in a row, the present one lit."""
    kinds = np.zeros((1, len(observation)), int)
    kinds[0, int(np.argmax(observation))] = 1
    return cells(kinds, (EMPTY, LIMB))


@cache
def _rooms() -> NDArray[np.bool_]:
    """Where one can walk."""
    from gymnax.environments.misc import rooms

    return np.asarray(rooms.string_to_bool_map(rooms.four_rooms_map))
