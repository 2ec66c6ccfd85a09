"""Curves that answer to the pointer and the keyboard; ``chart.js`` draws them from the data given here."""

import json
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offnac.report.curves import Band

DASHES = ("", "7 4", "2 3", "10 3 2 3")
"""Line styles, as SVG writes them."""


@dataclass(frozen=True)
class Series:
    """One curve. ``colour`` counts the page's palette; ``group`` is what switches many charts at once.

    ``bands`` has one band for each variant of the chart, under its name.
    """

    name: str
    bands: dict[str, Band]
    colour: int = 0
    dash: int = 0
    group: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Level:
    """A height to compare with; it is shown beside curves of its colour."""

    name: str
    y: float
    colour: int = 0


@dataclass(frozen=True)
class Chart:
    title: str
    x: str
    y: str
    series: list[Series]
    levels: tuple[Level, ...] = ()
    compared: str = ""
    """What the levels are."""
    log: bool = False
    """A logarithmic axis of −y, for costs."""

    def html(self, heading: str = "h4") -> str:
        title = escape(self.title)
        # Inside a script element only "<" could end the data.
        data = json.dumps(self._data(), separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        return (
            f'<figure class="chart" role="group" aria-label="{title}">\n'
            f"<{heading}>{title}</{heading}>\n"
            f'<div class="legend" role="group" aria-label="curves of {title}"></div>\n'
            f'<div class="plot"></div>\n'
            f'<script type="application/json">{data}</script>\n</figure>'
        )

    def _data(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "log": self.log,
            "compared": self.compared,
            "series": [
                {
                    "name": series.name,
                    "colour": series.colour,
                    "dash": DASHES[series.dash % len(DASHES)],
                    "group": series.group,
                    "shown": series.shown,
                    "x": next(iter(series.bands.values())).x.tolist(),
                    "bands": {
                        variant: [_short(band.middle), _short(band.low), _short(band.high)]
                        for variant, band in series.bands.items()
                    },
                }
                for series in self.series
            ],
            "levels": [{"name": level.name, "y": level.y, "colour": level.colour} for level in self.levels],
        }


def _short(values: ArrayLike) -> list[float | None]:
    """Five digits are more than a screen shows; what is not finite has no place on it."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, float)]
