"""Where pictures of tasks are drawn: in the task's own units, in a few colours, with smooth edges."""

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
