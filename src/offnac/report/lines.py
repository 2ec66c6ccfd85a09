"""Single lines and histograms as charts show them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from offnac.report.chart import Chart, Series
from offnac.report.curves import Band


def line(x: Sequence[float] | Any, y: Sequence[float] | Any) -> Band:
    """A curve without a band."""
    places: Any = np.array([float(f"{value:.5g}") for value in x])
    nothing = np.full(len(places), np.nan)
    return Band(places, np.asarray(y, float), nothing, nothing)


def outline(histogram: dict[str, list[float]]) -> Band:
    """The outline of a histogram's bars."""
    edges, counts = np.repeat(histogram["edges"], 2), np.repeat(histogram["counts"], 2)
    return line(edges, np.concatenate([[0], counts, [0]]))


def histogram_chart(title: str, x: str, y: str, histogram: dict[str, list[float]]) -> str:
    return Chart(title, x, y, [Series(y, {"count": outline(histogram)})]).html("h3")
