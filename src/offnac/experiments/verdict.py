"""Ours beside the paper's, in words."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

DECIMALS = 2
"""To which the paper prints its returns; nothing is compared more finely than that."""


class Verdict(NamedTuple):
    """``sure``: the whole interval says the same as the interquartile mean."""

    meets: bool
    sure: bool
    words: str


def verdict(ours: dict[str, Any], paper: float) -> Verdict:
    """Does the interquartile mean over seeds meet the paper's mean?"""
    iqm, low, high = ours["iqm"], ours["low"], ours["high"]
    meets, low_meets, high_meets = (bool(reaches(value, paper)) for value in (iqm, low, high))
    sure = ours["seeds"] > 1 and meets == low_meets == high_meets
    interval = f"the 95% interval [{number(low)}, {number(high)}]"
    if ours["seeds"] == 1:
        note = "of one seed only"
    elif sure:
        note = f"and so {'does' if meets else 'is'} all of {interval}"
    else:
        note = f"but {interval} reaches {'below it' if meets else 'it'}"
    comparison = f"IQM {number(iqm)} {'≥' if meets else '<'} {number(paper)}"
    return Verdict(meets, sure, f"{'meets' if meets else 'below'} the paper's mean: {comparison}, {note}")


def reaches(value: ArrayLike, paper: float) -> NDArray[np.bool_]:
    return np.round(np.asarray(value, float), DECIMALS) >= paper


def number(value: float) -> str:
    text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
