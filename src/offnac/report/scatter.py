"""Dots in a frame: what each trial of a search was worth, against one of its settings."""

from collections.abc import Sequence
from html import escape
from math import log10
from typing import NamedTuple

WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 10, 38


class Dot(NamedTuple):
    x: float
    y: float
    text: str
    """What a person sees who stays on it."""
    colour: int = 0
    """0 for most of them; another one stands out."""


def scatter(title: str, dots: Sequence[Dot], *, log: bool = False, names: Sequence[str] = ()) -> str:
    """``names`` stand for the places 0, 1, 2, … where x has no numbers. Dots that stand out come last."""
    at = log10 if log else float
    places, heights = [at(dot.x) for dot in dots], [dot.y for dot in dots]
    low, high = (-0.5, len(names) - 0.5) if names else _room(places)
    bottom, top = _room(heights)

    def px(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def py(value: float) -> float:
        return HEIGHT - BOTTOM - (value - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py(y):.1f}" y2="{py(y):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{_short(y)}</text>'
        for y in (min(heights), max(heights))
    ]
    ticks = (
        enumerate(names) if names else ((p, _short(10**p if log else p)) for p in (min(places), max(places)))
    )
    parts += [
        f'<text x="{px(place):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(text)}</text>'
        for place, text in dict(ticks).items()
    ]
    if log:
        parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 5}" text-anchor="middle">log scale</text>')
    parts += [
        f'<circle class="dot series-{dot.colour}" cx="{px(at(dot.x)):.1f}" cy="{py(dot.y):.1f}" '
        f'r="{6 if dot.colour else 4}"><title>{escape(dot.text)}</title></circle>'
        for dot in sorted(dots, key=lambda dot: dot.colour)
    ]
    return (
        f'<figure class="dots"><h3>{escape(title)}</h3>'
        f'<div class="plot"><svg role="img" aria-label="{escape(title)}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"{''.join(parts)}</svg></div></figure>"
    )


def _room(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis, with some room beyond the outermost values."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - room, high + room


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
