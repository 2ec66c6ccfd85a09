"""Small tables to read logs from."""

from typing import Any

import numpy as np

LENGTHS = (3, 4, 2)
"""Three episodes: one ends with the task, one is cut short, one ends with the task."""


def records() -> dict[str, Any]:
    """A good log of 9 rows, as arrays with the schema's names."""
    rng = np.random.default_rng(0)
    rows = sum(LENGTHS)
    observation = rng.normal(size=(rows, 2)).astype(np.float32)
    following = np.roll(observation, -1, axis=0)
    ends = np.cumsum(LENGTHS) - 1
    following[ends] = rng.normal(size=(3, 2))
    terminated, truncated = np.zeros(rows, bool), np.zeros(rows, bool)
    terminated[ends[[0, 2]]] = truncated[ends[1]] = True
    return {
        "episode": np.repeat([0, 1, 2], LENGTHS),
        "step": np.concatenate([np.arange(length) for length in LENGTHS]),
        "observation": observation,
        "action": np.array([0, 1, 2, 0, 1, 2, 0, 1, 0]),
        "reward": np.arange(rows, dtype=np.float32),
        "terminated": terminated,
        "truncated": truncated,
        "behaviour_prob": np.full(rows, 0.5, np.float32),
        "next_observation": following,
    }


def changed(*left_out: str, **columns: Any) -> dict[str, Any]:
    """The good log without some columns and with others."""
    return {name: values for name, values in (records() | columns).items() if name not in left_out}


def put(name: str, rows: list[int], value: Any) -> Any:
    """A column of the good log with a value put into some rows."""
    column = np.array(records()[name])
    column = column.astype(np.result_type(column, np.asarray(value)))
    column[rows] = value
    return column
