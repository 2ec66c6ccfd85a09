"""Where a log's columns come from: a file, a data frame or arrays, one column in memory at a time."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from offnac.errors import UserError
from offnac.logs.problems import one_line

DELIMITERS = ",;\t"
NUMBERED = re.compile(r"(next_)?observation_\d+$")
HEAD = 1 << 16
"""Bytes that are looked at to tell what a file is."""
BLOCK = 1 << 24
"""Bytes of text that are read at a time."""


@dataclass(frozen=True)
class Source:
    """A table that gives up its columns one by one, so that no two copies of all of it exist at once."""

    name: str
    """What messages call it."""
    rows: int
    types: dict[str, pa.DataType]
    take: Callable[[str], pa.ChunkedArray]
    """A column; it may be asked for once."""
    metadata: dict[str, str] = field(default_factory=dict)
    """What offnac wrote beside the columns, where it wrote them."""
    title: str = "log"
    """The task's name where the metadata has none."""


def open_source(source: Any, observed: Iterable[str] = ()) -> Source:
    """A path to Parquet or CSV, ``minari:ID`` or a Minari folder, a data frame, or a mapping of arrays.

    ``observed`` are columns of observations, which text is read into in single precision at once.
    """
    if isinstance(source, str) and source.startswith("minari:"):
        from offnac.logs.minari import open_dataset

        return open_dataset(source.removeprefix("minari:"))
    if isinstance(source, str | Path):
        return _open_path(Path(source), frozenset(observed))
    if isinstance(source, Mapping):
        return from_arrays(source, "the log")
    try:
        return from_table(pa.table(source), "the log")
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UserError(
            f"a log is a path, a data frame or a mapping of arrays, but {type(source).__name__} came "
            f"({_trouble(error)}); give one of these"
        ) from error


def from_arrays(arrays: Mapping[str, Any], name: str, **more: Any) -> Source:
    """Columns of NumPy arrays; a matrix is a column of vectors."""
    columns = {}
    for key, values in arrays.items():
        if values is None:
            continue
        try:
            array = values if isinstance(values, pa.Array | pa.ChunkedArray) else np.asarray(values)
            if isinstance(array, np.ndarray) and array.ndim > 1 and array.size == 0:
                array = pa.array(array.tolist())
            elif isinstance(array, np.ndarray) and array.ndim > 1:
                array = array.reshape(len(array), -1)
                flat = pa.array(np.ascontiguousarray(array).reshape(-1))
                array = pa.FixedSizeListArray.from_arrays(flat, array.shape[1])
            columns[str(key)] = array if isinstance(array, pa.ChunkedArray) else pa.array(array)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise UserError(
                f"{key} should be an array of numbers, but it is not one ({_trouble(error)})"
            ) from error
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UserError(f"the arrays of a log are of one length, but these came: {lengths}")
    return from_table(pa.table(columns), name, **more)


def from_table(table: pa.Table, name: str, **more: Any) -> Source:
    _require_single_names(table.column_names, name)
    held = {column: table[column] for column in table.column_names}
    types = {entry.name: entry.type for entry in table.schema}
    return Source(
        name, table.num_rows, types, held.pop, **{"metadata": _metadata(table.schema.metadata), **more}
    )


def _open_path(path: Path, observed: frozenset[str]) -> Source:
    if path.is_dir():
        from offnac.logs.minari import open_folder

        return open_folder(path)
    if not path.exists():
        raise UserError(f"a log is expected at {path}, but there is nothing; check the path")
    if path.stat().st_size == 0:
        raise UserError(f"{path} should hold a log, but it is empty; write it again")
    with path.open("rb") as file:
        magic = file.read(8)
    if magic[:4] == b"PAR1":
        return _open_parquet(path)
    if path.suffix in (".parquet", ".pq"):
        raise UserError(f"{path} should be Parquet, but it does not begin as such; it may be damaged")
    if magic == b"\x89HDF\r\n\x1a\n":
        raise UserError(f"{path} is an HDF5 file; give the folder of the Minari dataset that it belongs to")
    return _open_csv(path, observed)


def _open_parquet(path: Path) -> Source:
    with _reading(path, "Parquet"):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        types = {entry.name: entry.type for entry in file.schema_arrow}
        _require_single_names(file.schema_arrow.names, str(path))
        metadata, rows = _metadata(file.schema_arrow.metadata), file.metadata.num_rows

    def take(name: str) -> pa.ChunkedArray:
        with _reading(path, "Parquet"):
            column = file.read(columns=[name])[name]
            if len(column) != rows:
                raise ValueError(f"{len(column)} of {rows} rows")
            return column

    return Source(str(path), rows, types, take, metadata, path.stem)


def _open_csv(path: Path, observed: frozenset[str]) -> Source:
    with _reading(path, "CSV"):
        with pa.input_stream(str(path), compression="detect") as stream:
            head = stream.read(HEAD)
        if b"\0" in head:
            raise UserError(f"{path} should be a log in Parquet or CSV, but it is neither; check the path")
        header = head.split(b"\n")[0].decode("utf-8-sig")
        delimiter = max(DELIMITERS, key=header.count)
        names = [name.strip().strip('"') for name in header.split(delimiter)]
        single = {name: pa.float32() for name in names if name in observed or NUMBERED.match(name)}
        options = {"parse_options": csv.ParseOptions(delimiter=delimiter)}
        convert = csv.ConvertOptions(strings_can_be_null=True, column_types=single)
        try:
            # A third of the memory, but the first block decides what the other columns hold.
            table = csv.open_csv(path, csv.ReadOptions(block_size=BLOCK), convert_options=convert, **options)
            table = table.read_all()
        except pa.ArrowInvalid:
            convert.column_types = {}
            table = csv.read_csv(path, convert_options=convert, **options)
    return from_table(table, str(path), title=path.name.split(".")[0])


def _require_single_names(names: list[str], log: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        named = one_line(", ".join(twice))
        raise UserError(f"{log} should name every column once, but it has {named} twice or more")


def _metadata(found: Mapping[bytes, bytes] | None) -> dict[str, str]:
    decoded = {key.decode(errors="replace"): value for key, value in (found or {}).items()}
    return {
        key: value.decode(errors="replace") for key, value in decoded.items() if key.startswith("offnac.")
    }


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    """What Arrow says of a damaged file, as one sentence; a refusing disk speaks for itself."""
    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise UserError(
            f"{path} cannot be read as {kind} ({_trouble(error)}); it may be damaged or cut short"
        ) from error


def _trouble(error: Exception) -> str:
    """What another package says, short and on one line."""
    text = one_line(str(error)).rstrip(".")
    return text if len(text) < 200 else text[:200] + "…"
