"""Numbers as a person reads them: a true minus sign, no more digits than mean something."""

from math import isfinite


def plain(value: float | None, digits: int = 1) -> str:
    """A dash where there is no number."""
    if value is None or not isfinite(value):
        return "–"
    return f"{value:,.{digits}f}".replace("-", "−").replace(",", "\u202f")


def interval(low: float, high: float, digits: int = 1) -> str:
    return f"{plain(low, digits)} to {plain(high, digits)}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
