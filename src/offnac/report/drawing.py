"""The JAX-native tasks as pictures: each is drawn from the observation alone."""

from collections.abc import Callable
from math import atan2, cos, sin
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 360, 240
SHARPNESS = 3
"""Pictures are drawn this much larger and then reduced: Pillow does not smooth edges itself."""

PAPER, GROUND, INK = "#fbfaf6", "#d8d4c8", "#2e3440"
BODY, LIMB, GOAL = "#0072b2", "#d55e00", "#007a59"

Point = tuple[float, float]


class Canvas:
    """Drawing in the task's own units: ``scale`` pixels each, the origin at ``origin`` pixels."""

    def __init__(self, scale: float, origin: Point) -> None:
        self.scale, self.origin = scale * SHARPNESS, (origin[0] * SHARPNESS, origin[1] * SHARPNESS)
        self._image = Image.new("RGB", (WIDTH * SHARPNESS, HEIGHT * SHARPNESS), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def polygon(self, points: list[Point], fill: str) -> None:
        self._draw.polygon([self._at(point) for point in points], fill)

    def line(self, points: list[Point], fill: str, width: float) -> None:
        """``width`` in pixels; the ends are round."""
        placed = [self._at(point) for point in points]
        self._draw.line(placed, fill, round(width * SHARPNESS), joint="curve")
        for x, y in (placed[0], placed[-1]):
            self._circle(x, y, width * SHARPNESS / 2, fill)

    def dot(self, centre: Point, fill: str, radius: float) -> None:
        """``radius`` in pixels."""
        self._circle(*self._at(centre), radius * SHARPNESS, fill)

    def image(self) -> Image.Image:
        return self._image.reduce(SHARPNESS)

    def _circle(self, x: float, y: float, radius: float, fill: str) -> None:
        self._draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill)

    def _at(self, point: Point) -> Point:
        return self.origin[0] + self.scale * point[0], self.origin[1] - self.scale * point[1]


def cartpole(observation: Any) -> Image.Image:
    """s = (x, ẋ, angle from upright, its speed); the pole is 1 long, the track ends at ±2.4."""
    x, angle = float(observation[0]), float(observation[2])
    canvas = Canvas(scale=72, origin=(WIDTH / 2, 190))
    canvas.line([(-2.4, -0.18), (2.4, -0.18)], GROUND, 4)
    for end in (-2.4, 2.4):
        canvas.line([(end, -0.28), (end, -0.08)], INK, 3)
    for wheel in (-0.2, 0.2):
        canvas.dot((x + wheel, -0.11), INK, 5)
    canvas.polygon([(x - 0.34, -0.06), (x + 0.34, -0.06), (x + 0.34, 0.2), (x - 0.34, 0.2)], BODY)
    pivot = (x, 0.14)
    # As long as Gymnasium draws it beside the cart, so that a lean of a few degrees is seen.
    tip = (x + 1.6 * sin(angle), 0.14 + 1.6 * cos(angle))
    canvas.line([pivot, tip], LIMB, 9)
    canvas.dot(pivot, INK, 4)
    return canvas.image()


def acrobot(observation: Any) -> Image.Image:
    """s = (cos θ₁, sin θ₁, cos θ₂, sin θ₂, speeds); both links 1 long, θ₂ relative to the first link."""
    cos1, sin1, cos2, sin2 = (float(number) for number in observation[:4])
    joint = (sin1, -cos1)
    tip = (joint[0] + sin1 * cos2 + cos1 * sin2, joint[1] - cos1 * cos2 + sin1 * sin2)
    canvas = Canvas(scale=52, origin=(WIDTH / 2, HEIGHT / 2))
    for left in range(-34, 34, 2):  # the height to reach, dashed
        canvas.line([(left / 10, 1.0), (left / 10 + 0.1, 1.0)], GOAL, 2)
    canvas.line([(0.0, 0.0), joint], BODY, 11)
    canvas.line([joint, tip], LIMB, 11)
    for centre in ((0.0, 0.0), joint):
        canvas.dot(centre, INK, 6)
    canvas.dot(tip, INK, 4)
    return canvas.image()


def mountain_car(observation: Any) -> Image.Image:
    """s = (position, velocity); the road is sin 3x, the flag stands at 0.5."""
    x = float(observation[0])
    canvas = Canvas(scale=180, origin=(240, 150))

    def road(position: float) -> Point:
        return position, 0.4 * sin(3 * position)

    places = [road(-1.4 + step * 0.01) for step in range(211)]
    canvas.polygon([(-1.4, -1.0), *places, (0.7, -1.0)], GROUND)
    canvas.line(places, INK, 2)
    foot = road(0.5)
    canvas.line([foot, (0.5, foot[1] + 0.26)], INK, 2)
    canvas.polygon([(0.5, foot[1] + 0.26), (0.61, foot[1] + 0.21), (0.5, foot[1] + 0.16)], GOAL)

    slope = atan2(1.2 * cos(3 * x), 1.0)
    along, up = (cos(slope), sin(slope)), (-sin(slope), cos(slope))

    def beside(forward: float, above: float) -> Point:
        here = road(x)
        return (
            here[0] + forward * along[0] + above * up[0],
            here[1] + forward * along[1] + above * up[1],
        )

    corners = ((-0.1, 0.03), (0.1, 0.03), (0.1, 0.075), (0.05, 0.12), (-0.06, 0.12), (-0.1, 0.075))
    canvas.polygon([beside(*corner) for corner in corners], LIMB)
    for wheel in (-0.06, 0.06):
        canvas.dot(beside(wheel, 0.032), INK, 5.5)
    return canvas.image()


class Picture(NamedTuple):
    draw: Callable[[Any], Image.Image]
    steps_per_second: int
    """How fast the task runs, as Gymnasium shows it."""


PICTURES = {
    "CartPole-v1": Picture(cartpole, 50),
    "Acrobot-v1": Picture(acrobot, 15),
    "MountainCar-v0": Picture(mountain_car, 30),
}
