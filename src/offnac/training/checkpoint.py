"""A seed's run on disk: everything between two episodes (or iterations), so that a resumed run is the same.

One safetensors file: the leaves of the run, a pytree, by their names, and the records
so far as columns.
"""

from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file
from safetensors.numpy import save as serialise

from offnac import files
from offnac.errors import UserError
from offnac.training.protocol import Record, dtype_of

R = TypeVar("R")
Columns = dict[str, NDArray[Any]]
"""One array per field of a record, a row per episode or iteration."""
RECORDS = "records."
"""How the names of their columns begin in a file."""


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _named(run: Any) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(run)
    return [("run" + jax.tree_util.keystr(path), leaf) for path, leaf in leaves]


def save(path: Path, run: Any, records: Columns) -> None:
    tensors = {
        name: np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf) for name, leaf in _named(run)
    }
    tensors |= {RECORDS + name: column for name, column in records.items()}
    with files.replacing(path) as temporary:
        temporary.write_bytes(serialise(tensors))


def holds(path: Path, template: Any) -> bool:
    """Whether everything that ``template`` has is there, whatever its shape; a broken file is for ``load``
    to tell of."""
    try:
        with safe_open(path, "numpy") as file:
            return set(file.keys()) >= {name for name, _ in _named(template)}
    except (SafetensorError, OSError):
        return True


def rows(path: Path) -> int:
    """How many rows of records there are; none where there is no file, or a broken one."""
    try:
        with safe_open(path, "numpy") as file:
            return int(file.get_slice(RECORDS + Record._fields[0]).get_shape()[0])
    except (SafetensorError, OSError):
        return 0


def load(path: Path, template: R, fields: tuple[str, ...] = Record._fields) -> tuple[R, Columns]:
    """Read a run back into the shape of ``template``, a fresh run of the same experiment."""
    try:
        tensors = load_file(path)
        leaves = []
        for name, leaf in _named(template):
            tensor = jnp.asarray(tensors[name])
            tensor = jax.random.wrap_key_data(tensor) if _is_key(leaf) else tensor
            if tensor.shape != leaf.shape:
                raise KeyError(name)
            leaves.append(tensor)
    except (SafetensorError, KeyError, ValueError) as error:
        raise UserError(
            f"the checkpoint {path} does not fit this run (trouble with {error}); "
            "remove its folder to start that seed again"
        ) from error
    run: R = jax.tree.unflatten(jax.tree.structure(template), leaves)
    length = max((len(tensor) for name, tensor in tensors.items() if name.startswith(RECORDS)), default=0)
    # An earlier version may not have kept all that is kept now.
    unknown = np.full(length, np.nan)
    return run, {name: tensors.get(RECORDS + name, unknown).astype(dtype_of(name)) for name in fields}


def no_records(fields: tuple[str, ...] = Record._fields) -> Columns:
    return {name: np.zeros(0, dtype_of(name)) for name in fields}


def append(records: Columns, new: Any, count: int) -> Columns:
    """Add the first ``count`` rows of a chunk's records."""
    return {
        name: np.concatenate([records[name], np.asarray(column[:count], dtype_of(name))])
        for name, column in new._asdict().items()
    }
