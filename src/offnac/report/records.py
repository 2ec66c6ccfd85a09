"""What the seeds of a run have recorded so far, as bands over seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import ArrowException

from offnac.errors import UserError
from offnac.evaluation.statistics import interquartile_mean
from offnac.report.curves import Band, evenly

Records = dict[int, dict[str, NDArray[Any]]]
"""Of each seed that has begun, its columns."""


def read(out: Path, seeds: Sequence[int], table: str) -> Records:
    """``table`` of every seed that has one: episodes, history or candidates."""
    found: Records = {}
    for seed in seeds:
        path = out / f"seed-{seed}" / f"{table}.parquet"
        if path.exists():
            try:
                rows = pq.read_table(path)
            except (ArrowException, OSError) as error:
                raise UserError(f"{path} cannot be read; it may be damaged") from error
            found[seed] = {name: rows[name].to_numpy() for name in rows.column_names}
    return found


def band(records: Records, column: str) -> Band | None:
    """Interquartile mean and middle half of the seeds that have come so far, counted from 1; None where
    nobody recorded it."""
    curves = [
        columns[column]
        for columns in records.values()
        if column in columns and np.isfinite(columns[column]).any()
    ]
    if not curves:
        return None
    x = evenly(max(len(curve) for curve in curves))
    there = [np.array([curve[i] for curve in curves if i < len(curve)], float) for i in x]
    # A diverged seed counts as the worst of all, not as missing.
    there = [np.where(np.isnan(values), -np.inf, values) for values in there]
    with np.errstate(invalid="ignore"):
        middle = np.array([interquartile_mean(values) for values in there])
        low, high = (np.array([np.quantile(values, q) for values in there]) for q in (0.25, 0.75))
    return Band(x + 1, middle, low, high)
