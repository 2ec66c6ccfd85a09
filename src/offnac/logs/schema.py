"""The columns of a log, and the Parquet file that holds them.

Rows are steps, in order, episode after episode.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from offnac import files
from offnac.transition import Spec, Transition


def schema(spec: Spec, metadata: dict[str, str] | None = None, *, behaviour_prob: bool = True) -> pa.Schema:
    observation = pa.list_(pa.float32(), spec.observation_size)
    described = pa.schema(
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
    return described if behaviour_prob else described.remove(described.get_field_index("behaviour_prob"))


@contextmanager
def writing(
    path: Path, spec: Spec, metadata: dict[str, str] | None = None, *, behaviour_prob: bool = True
) -> Iterator["LogWriter"]:
    """Write a log that appears under its name only when it is complete."""
    described = schema(spec, metadata, behaviour_prob=behaviour_prob)
    with (
        files.replacing(path) as temporary,
        pq.ParquetWriter(temporary, described, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield LogWriter(writer, described)


class LogWriter:
    """Appends blocks of steps to a log."""

    def __init__(self, writer: pq.ParquetWriter, described: pa.Schema) -> None:
        self._writer, self._schema = writer, described

    def write(self, episode: NDArray[Any], rows: Transition) -> None:
        """The columns that the schema has."""

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
            for column in (columns[name] for name in self._schema.names)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
