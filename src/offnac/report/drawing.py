"""The classic control tasks as pictures, each drawn from the observation alone."""

from math import atan2, cos, sin
from typing import Any

from PIL import Image

from offnac.report.canvas import BODY, GOAL, GROUND, HEIGHT, INK, LIMB, WIDTH, Canvas, Point


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
