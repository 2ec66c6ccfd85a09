"""Training curves: the running average of the return in both of its definitions, for every run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy
from numpy.typing import ArrayLike, NDArray

from offnac import files

CURVES = "curves.parquet"
PRINTED, PUBLISHED = 0.9, 0.1
"""Weight of the newest return: as the paper prints it, and as its experiments ran it (errata row 7)."""

SCHEMA = pa.schema(
    [
        ("cell", pa.string()),
        ("preset", pa.string()),
        ("seed", pa.int64()),
        ("episode", pa.int32()),
        ("average", pa.float32()),
        ("average_printed", pa.float32()),
        ("average_published", pa.float32()),
        ("evaluation_return", pa.float32()),
    ]
)

Curves = dict[str, NDArray[Any]]


def running_average(returns: ArrayLike, newest: float) -> NDArray[np.float64]:
    """a₀ = r₀, then aₙ = newest·rₙ + (1 − newest)·aₙ₋₁."""
    values = np.asarray(returns, float)
    if values.size == 0:
        return values
    averages, _ = scipy.signal.lfilter([newest], [1.0, newest - 1.0], values, zi=[(1.0 - newest) * values[0]])
    return np.asarray(averages)


def of_seed(folder: Path) -> Curves:
    """The curves of one seed of a run, from its records."""
    table = pq.read_table(folder / "episodes.parquet", columns=["episode", "average", "evaluation_return"])
    returns = table["evaluation_return"].to_numpy()
    return {
        "episode": table["episode"].to_numpy(),
        "average": table["average"].to_numpy(),
        "average_printed": running_average(returns, PRINTED),
        "average_published": running_average(returns, PUBLISHED),
        "evaluation_return": returns,
    }


def write(path: Path, runs: Iterator[tuple[str, str, Mapping[int, Path]]]) -> None:
    """One row per episode of every run: (cell, preset, the folder of each seed)."""
    with (
        files.replacing(path) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        for cell, preset, seeds in runs:
            tables = [_table(cell, preset, seed, of_seed(folder)) for seed, folder in seeds.items()]
            writer.write_table(pa.concat_tables(tables))


def _table(cell: str, preset: str, seed: int, curves: Curves) -> pa.Table:
    count = len(curves["episode"])
    columns = {"cell": [cell] * count, "preset": [preset] * count, "seed": [seed] * count, **curves}
    return pa.table([pa.array(columns[field.name]).cast(field.type) for field in SCHEMA], schema=SCHEMA)


def thin(table: pa.Table, points: int) -> pa.Table:
    """At most ``points`` rows of each run, evenly spread, its first and last episode among them."""
    keep = np.zeros(table.num_rows, bool)
    seeds, episodes = table["seed"].to_numpy(), table["episode"].to_numpy()
    # Rows lie run by run, each run from its episode 0 on.
    starts = np.flatnonzero(np.r_[True, (np.diff(seeds) != 0) | (np.diff(episodes) <= 0)])
    for start, end in zip(starts, np.r_[starts[1:], table.num_rows], strict=True):
        keep[np.unique(np.linspace(start, end - 1, min(points, end - start)).round().astype(int))] = True
    return table.filter(pa.array(keep))
