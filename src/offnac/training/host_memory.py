"""The memory of a seed whose simulator is on the host: the same :class:`Memory`, written in place.

An episode's rows can be taken back until the episode is booked, so that a checkpoint made
in between holds the memory as it was between two episodes.
"""

from typing import Any

import jax
import numpy as np

from offnac.training.replay import STARTS, Memory, Replay
from offnac.transition import Transition


class HostMemory:
    def __init__(self, replay: Replay, memory: Memory) -> None:
        self._replay = replay
        self._memory: Any = jax.tree.map(np.array, memory)
        self._before: tuple[Any, Any, Any] | None = None

    def keep(self, rows: list[tuple[Any, ...]]) -> None:
        """Write an episode's rows, and remember what they overwrite."""
        memory, capacity = self._memory, self._replay.capacity
        rows = rows[-capacity:]
        at = (int(memory.written) + np.arange(len(rows))) % capacity
        start = int(memory.episodes) % STARTS
        overwritten = Transition(*(column[at].copy() for column in memory.rows))
        self._before = (at, overwritten, memory.starts[start].copy())
        for column, values in zip(memory.rows, zip(*rows, strict=True), strict=True):
            column[at] = np.stack(values)
        memory.starts[start] = rows[0][0]
        self._memory = memory._replace(
            written=np.int32(memory.written + len(rows)), episodes=np.int32(memory.episodes + 1)
        )

    def book(self) -> None:
        """The episode is over: its rows stay."""
        self._before = None

    def now(self) -> Memory:
        return self._memory

    def between_episodes(self) -> Memory:
        """A copy as it was after the last booked episode."""
        memory = jax.tree.map(np.array, self._memory)
        if self._before is None:
            return memory
        at, overwritten, start = self._before
        episodes = int(memory.episodes) - 1
        for column, values in zip(memory.rows, overwritten, strict=True):
            column[at] = values
        memory.starts[episodes % STARTS] = start
        return memory._replace(written=np.int32(memory.written - len(at)), episodes=np.int32(episodes))
