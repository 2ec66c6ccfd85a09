"""A task of which nothing is known but its numbers: each observed number a bar."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from offnac.report.canvas import BODY, GROUND, HEIGHT, LIMB, WIDTH, Canvas

MARGIN = 16
MOST = 96
"""Bars that a picture has room for."""


def bars(observations: NDArray[np.float32]) -> Callable[[Any], Image.Image]:
    """Draws single observations, each number on the scale of what it went through in ``observations``."""
    shown = observations[:, :MOST].astype(float)
    reach = np.abs(np.where(np.isfinite(shown), shown, 0.0)).max(axis=0)
    reach = np.where(reach > 0, reach, 1.0)
    width = (WIDTH - 2 * MARGIN) / shown.shape[1]

    def draw(observation: Any) -> Image.Image:
        heights = np.nan_to_num(np.asarray(observation, float)[:MOST] / reach, posinf=1, neginf=-1)
        canvas = Canvas(scale=1, origin=(MARGIN, HEIGHT / 2))
        canvas.line([(0, 0), (WIDTH - 2 * MARGIN, 0)], GROUND, 2)
        for place, height in enumerate(heights.clip(-1, 1)):
            left, right = (place + 0.12) * width, (place + 0.88) * width
            tall = height * (HEIGHT / 2 - MARGIN)
            fill = BODY if height >= 0 else LIMB
            canvas.polygon([(left, 0), (left, tall), (right, tall), (right, 0)], fill)
        return canvas.image()

    return draw
