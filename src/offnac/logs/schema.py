"""The columns of a log, and the Parquet file that holds them.

Rows are steps, in order, episode after episode.
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from offnac import files
from offnac.transition import Spec, Transition


def schema(spec: Spec, metadata: dict[str, str] | None = None) -> pa.Schema:
    observation = pa.list_(pa.float32(), spec.observation_size)
    return pa.schema(
        [
            ("episode", pa.int64()),
            ("step", pa.int32()),
            ("observation", observation),
            ("action", pa.int32()),
            ("reward", pa.float32()),
            ("terminated", pa.bool_()),
            ("truncated", pa.bool_()),
            ("behaviour_prob", pa.float32()),
            ("next_observation", observation),
        ],
        metadata={"offnac.environment": spec.name, "offnac.actions": str(spec.actions), **(metadata or {})},
    )


class LogWriter:
    """Appends blocks of steps to a log that appears under its name only when it is complete."""

    def __init__(self, path: Path, spec: Spec, metadata: dict[str, str] | None = None) -> None:
        self._replacing = files.replacing(path)
        self._schema = schema(spec, metadata)

    def __enter__(self) -> "LogWriter":
        self._writer = pq.ParquetWriter(self._replacing.__enter__(), self._schema, compression="zstd")
        return self

    def write(self, episode: NDArray[Any], rows: Transition) -> None:
        def vectors(values: Any) -> pa.FixedSizeListArray:
            array = np.asarray(values, np.float32)
            return pa.FixedSizeListArray.from_arrays(array.reshape(-1), array.shape[1])

        columns = {
            "episode": episode,
            "step": rows.step,
            "observation": vectors(rows.observation),
            "action": np.asarray(rows.action, np.int32),
            "reward": rows.reward,
            "terminated": rows.terminated,
            "truncated": rows.truncated,
            "behaviour_prob": rows.behaviour_prob,
            "next_observation": vectors(rows.next_observation),
        }
        arrays = [
            column if isinstance(column, pa.Array) else pa.array(np.asarray(column))
            for column in columns.values()
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._writer.close()
        except BaseException as closing:
            self._replacing.__exit__(type(closing), closing, closing.__traceback__)
            raise
        self._replacing.__exit__(kind, error, trace)
