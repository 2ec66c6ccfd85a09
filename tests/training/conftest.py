"""Comparing two runs on disk bit for bit."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

TENSORS = ("checkpoint.safetensors", "best/policy.safetensors", "final/policy.safetensors")


def require_same_seed(one: Path, other: Path) -> None:
    """Result, records, policies and checkpoint of a seed are the same to the last bit, keys included."""
    assert json.loads((one / "result.json").read_text()) == json.loads((other / "result.json").read_text())
    assert pq.read_table(one / "episodes.parquet").equals(pq.read_table(other / "episodes.parquet"))
    for name in TENSORS:
        first, second = load_file(one / name), load_file(other / name)
        assert first.keys() == second.keys()
        for key in first:
            assert (first[key].dtype, first[key].shape) == (second[key].dtype, second[key].shape)
            assert first[key].tobytes() == second[key].tobytes(), f"{name}: {key}"
    assert "run.key" in load_file(one / TENSORS[0])


@pytest.fixture(scope="session")
def same_seed():
    return require_same_seed


@pytest.fixture(scope="session")
def records():
    """The columns of a seed's records."""

    def read(folder: Path) -> dict[str, np.ndarray]:
        table = pq.read_table(folder / "episodes.parquet")
        return {name: table[name].to_numpy() for name in table.column_names}

    return read
