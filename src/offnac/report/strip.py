"""A number line a few letters long, for a table's cell: every seed a dot, so that luck shows."""

from collections.abc import Sequence
from html import escape
from math import isfinite

WIDTH, HEIGHT, MARGIN = 120, 18, 5


def strip(
    values: Sequence[float],
    low: float,
    high: float,
    *,
    mark: float | None = None,
    interval: tuple[float, float] | None = None,
    label: str,
) -> str:
    """Dots at ``values`` between ``low`` and ``high``, a bar for an interval, a line to compare with."""

    def at(value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
        return f"{MARGIN + share * (WIDTH - 2 * MARGIN):.1f}"

    middle = HEIGHT / 2
    parts = [f'<line class="axis" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{middle}" y2="{middle}"/>']
    if interval is not None:
        begin, end = at(interval[0]), at(interval[1])
        parts.append(f'<line class="bar" x1="{begin}" x2="{end}" y1="{middle}" y2="{middle}"/>')
    parts += [
        f'<circle class="seed" cx="{at(value)}" cy="{middle}" r="3"/>' for value in values if isfinite(value)
    ]
    if mark is not None:
        parts.append(f'<line class="mark" x1="{at(mark)}" x2="{at(mark)}" y1="1" y2="{HEIGHT - 1}"/>')
    return (
        f'<svg class="strip" role="img" aria-label="{escape(label)}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
    )
