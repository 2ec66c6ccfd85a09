"""Minari datasets, both ways; the package is an extra and is imported only here.

Nothing opens the dataset's environment: its spaces are in its metadata.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from offnac import extras, files, spaces
from offnac.errors import UserError
from offnac.logs.log import Log
from offnac.logs.problems import rows_text
from offnac.logs.source import Source, from_arrays

PROBABILITY = "behaviour_prob"
"""The entry of an episode's infos that holds μ(a|s)."""


def _package() -> Any:
    extras.load("h5py", "Minari datasets need", "minari")
    return extras.load("minari", "Minari datasets need", "minari")


def open_dataset(name: str) -> Source:
    """A dataset of the local Minari store, by its id."""
    folder = _place(name)
    if not (folder / "data").is_dir():
        raise UserError(
            f"there is no Minari dataset {name!r} at {folder}; fetch it with: minari download {name}"
        )
    return open_folder(folder)


def open_folder(folder: Path) -> Source:
    data = folder / "data" if (folder / "data").is_dir() else folder
    if not (data / "metadata.json").is_file():
        raise UserError(
            f"a log is a file or the folder of a Minari dataset, but {folder} is a folder without one; "
            "give the file in it"
        )
    metadata = files.read_json(data / "metadata.json")
    _package()
    from minari.dataset.minari_storage import MinariStorage

    try:
        if "observation_space" not in metadata or "action_space" not in metadata:
            raise UserError(f"{folder} does not tell its spaces; write it again with a newer Minari")
        storage = MinariStorage.read(data)
        return from_arrays(
            _columns(storage, str(folder)), str(folder), title=folder.name, metadata=_known(metadata, storage)
        )
    except UserError:
        raise
    except Exception as error:  # another package's reader, on files that may be damaged in any way
        trouble = " ".join(f"{type(error).__name__} {error}".split())
        raise UserError(f"{folder} cannot be read as a Minari dataset ({trouble:.200})") from error


def _known(metadata: dict[str, Any], storage: Any) -> dict[str, str]:
    known = {"offnac.actions": str(int(storage.action_space.n))}
    described = json.loads(metadata.get("env_spec") or "{}")
    if name := metadata.get("offnac_environment") or described.get("id"):
        known["offnac.environment"] = str(name)
    return known


def _columns(storage: Any, name: str) -> dict[str, Any]:
    observed, actions = storage.observation_space, storage.action_space
    spaces.require_known(observed, actions, name, "give another dataset")
    parts: dict[str, list[Any]] = {}
    episodes = storage.get_episodes(range(storage.total_episodes))
    for number, episode in enumerate(episodes):
        length = len(episode["rewards"])
        seen = spaces.flat(observed, episode["observations"])
        columns = {
            "episode": np.full(length, number),
            "step": np.arange(length),
            "observation": seen[:length],
            "next_observation": seen[1 : length + 1],
            "action": np.asarray(episode["actions"]).reshape(length) - int(actions.start),
            "reward": np.asarray(episode["rewards"], np.float32).reshape(length),
            "terminated": np.asarray(episode["terminations"], bool),
            "truncated": np.asarray(episode["truncations"], bool),
        }
        infos = episode.get("infos") or {}
        if PROBABILITY in infos:
            columns[PROBABILITY] = np.asarray(infos[PROBABILITY], np.float32).reshape(-1)[:length]
        for key, values in columns.items():
            parts.setdefault(key, []).append(values)
    if not parts:
        raise UserError(f"{name} cannot be used: it holds no rows")
    if len(parts.get(PROBABILITY, [])) not in (0, len(parts["reward"])):
        del parts[PROBABILITY]
    return {key: np.concatenate(values) for key, values in parts.items()}


def write_dataset(log: Log, name: str) -> Path:
    """Write a log to the local Minari store, whole or not at all."""
    minari = _package()
    from gymnasium.spaces import Box, Discrete
    from minari.dataset.minari_storage import MinariStorage

    folder = _place(name)
    files.require_absent(folder)
    _require_unbroken(log)
    seen = Box(-np.inf, np.inf, (log.spec.observation_size,), np.float32)
    with files.replacing(folder) as temporary:
        temporary.mkdir()
        storage = MinariStorage.new(temporary / "data", seen, Discrete(log.spec.actions), data_format="hdf5")
        storage.update_metadata(
            {
                "dataset_id": name,
                "minari_version": minari.__version__,
                "offnac_environment": log.spec.name,
            }
        )
        storage.update_episodes(_episodes(log))
    return folder


def _require_unbroken(log: Log) -> None:
    """A Minari episode is one run of states, so each row must lead to the next."""
    elsewhere = np.asarray((log.rows.next_observation[:-1] != log.rows.observation[1:]).any(axis=1))
    broken = np.append(elsewhere & (np.diff(log.episode) == 0), False)
    if broken.any():
        raise UserError(
            f"a Minari dataset holds whole episodes, but {rows_text(broken)} of the log does not lead to the "
            "next one; convert to Parquet or CSV instead"
        )


def _episodes(log: Log) -> Iterator[Any]:
    from minari.data_collector import EpisodeBuffer

    rows, starts = log.rows, log.starts
    for begin, end in zip(starts, [*starts[1:], len(log)], strict=True):
        here = slice(begin, end)
        infos = None
        if log.behaviour is not None:
            # Minari keeps an info for the state before the first action too, as it does an observation.
            infos = {PROBABILITY: np.append(rows.behaviour_prob[here], np.float32(1.0))}
        yield EpisodeBuffer(
            observations=np.concatenate([rows.observation[here], rows.next_observation[end - 1 : end]]),
            actions=np.asarray(rows.action[here], np.int64),
            rewards=np.asarray(rows.reward[here]),
            terminations=np.asarray(rows.terminated[here]),
            truncations=np.asarray(rows.truncated[here]),
            infos=infos,
        )


def _place(name: str) -> Path:
    """The folder of a dataset, as the package finds it."""
    _package()
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (TypeError, ValueError) as error:  # the former where the name has no version
        raise UserError(
            f"a Minari dataset is called such as cartpole/uniform-v0, but {name!r} came"
        ) from error
    root = os.environ.get("MINARI_DATASETS_PATH")
    return (Path(root) if root else Path.home() / ".minari" / "datasets") / name
