"""Comparing two runs on disk bit for bit, and watching the weights of a run."""

import json
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

from offnac.actor_critic import ActorCritic
from offnac.settings import settings

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


@settings
class Watch:
    """A direction that remembers how far wρ was from 1 at its worst."""

    inner: object

    def init(self, key, theta):
        return self.inner.init(key, theta), jnp.float32(0.0)

    def update(self, state, policy, theta, batch, omega, delta, clock):
        inner, worst = state
        inner, x = self.inner.update(inner, policy, theta, batch, omega, delta, clock)
        return (inner, jnp.maximum(worst, jnp.abs(omega - 1.0).max())), x


@pytest.fixture(scope="session")
def watched():
    """The same algorithm, with the largest |wρ − 1| so far in ``learner.direction[1]``."""

    def watch(algorithm: ActorCritic) -> ActorCritic:
        return replace(algorithm, direction=Watch(algorithm.direction))

    return watch
