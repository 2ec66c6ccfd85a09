"""Training curves of many seeds, reduced to what a figure shows: the interquartile mean and a band."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray
from pyarrow import ArrowException

from offnac.errors import UserError
from offnac.evaluation.statistics import interquartile_mean
from offnac.experiments.curves import of_seed

POINTS = 160
"""How many points a curve keeps; between them a running average hardly moves."""

AVERAGES = {
    "average_published": "0.1 × return + 0.9 × average, as published",
    "average_printed": "0.9 × return + 0.1 × average, as printed",
}
"""The two definitions of the running average (errata row 7), by their columns."""


class Band(NamedTuple):
    """A curve: at each x the interquartile mean over seeds, with the middle half of them.

    Episodes count from 1, as in "after 200 episodes".
    """

    x: NDArray[np.int64]
    middle: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


Key = tuple[str, str]
"""(cell, preset)"""


def read(path: Path) -> dict[Key, dict[str, Band]]:
    """The bands of every cell and preset in a reproduction's ``curves.parquet``, by column."""
    names = ["cell", "preset", "seed", "episode", *AVERAGES]
    try:
        table = pq.read_table(path, columns=names)
        columns = {name: table.column(name).combine_chunks() for name in names}
    except FileNotFoundError as error:
        raise UserError(f"{path} is not there; run offnac reproduce first") from error
    except (ArrowException, KeyError) as error:
        raise UserError(f"{path} does not hold a reproduction's curves; it may be damaged") from error
    cells, presets = (columns[name].dictionary_encode() for name in ("cell", "preset"))
    group = np.asarray(cells.indices) * max(1, len(presets.dictionary)) + np.asarray(presets.indices)
    order = np.lexsort([np.asarray(columns["episode"]), np.asarray(columns["seed"]), group])
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    found = {}
    for rows in np.split(order, starts[1:]) if order.size else ():
        key = (columns["cell"][rows[0]].as_py(), columns["preset"][rows[0]].as_py())
        seeds, episodes = (np.asarray(columns[name])[rows] for name in ("seed", "episode"))
        found[key] = {name: _band(seeds, episodes, np.asarray(columns[name])[rows]) for name in AVERAGES}
    return found


def so_far(out: Path, summary: dict[str, Any]) -> dict[Key, dict[str, Band]]:
    """The same from the records of the finished runs themselves, while others are at work."""
    found = {}
    for cell in summary["cells"]:
        folder = out / "runs" / f"{cell['cell']}-{cell['preset']}"
        seeds = [of_seed(folder / f"seed-{seed}") for seed in cell["seeds"]]
        found[cell["cell"], cell["preset"]] = {
            name: _band(
                np.repeat(cell["seeds"], [len(seed["episode"]) for seed in seeds]),
                np.concatenate([seed["episode"] for seed in seeds]),
                np.concatenate([seed[name] for seed in seeds]),
            )
            for name in AVERAGES
        }
    return found


def reduce(curves: NDArray[Any]) -> Band:
    """The band of curves [seed, episode], at evenly spaced episodes, the first and the last among them."""
    x = evenly(curves.shape[1])
    # A diverged seed counts as the worst of all, not as missing.
    kept = np.where(np.isnan(curves[:, x]), -np.inf, curves[:, x]).astype(float)
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(kept, (0.25, 0.75), axis=0)
        return Band(x, interquartile_mean(kept, axis=0), low, high)


def evenly(count: int) -> NDArray[np.int64]:
    """At most ``POINTS`` of the numbers below ``count``, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(int))


def spans_decades(values: ArrayLike) -> bool:
    """Whether these are costs of very different sizes, which only a logarithmic axis shows."""
    finite = np.asarray(values, float)
    finite = finite[np.isfinite(finite)]
    return bool(finite.size and finite.max() < -1 and finite.min() < 20 * finite.max())


def _band(seeds: NDArray[Any], episodes: NDArray[Any], values: NDArray[Any]) -> Band:
    """Rows come ordered by seed and episode; curves go only so far as every seed has come."""
    starts = np.flatnonzero(np.diff(seeds, prepend=seeds[0] - 1))
    curves = np.split(values, starts[1:])
    shortest = min(len(curve) for curve in curves)
    band = reduce(np.stack([curve[:shortest] for curve in curves]))
    return band._replace(x=episodes[:shortest][band.x].astype(int) + 1)
