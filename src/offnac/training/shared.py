"""Seeds that several processes train, each seed in one of them at a time.

They are begun in order. Seeds take unequal times, and a process that finds none left would be idle until the
others are done. So once fewer seeds wait than there are processes, a process puts its seed down, saved as it
is, for a waiting one that is further behind: all end at about the same time.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event

from offnac.claims import claim, is_free
from offnac.errors import Stopped
from offnac.training.seed_folder import SeedFolder

BEHIND = 0.05
"""Of its episodes: how far behind another seed must be for ours to be put down."""
PATIENCE = 0.1
"""Seconds until a process that has nothing to do looks again."""

GiveWay = Callable[[int], bool]
"""Asked after so many episodes of a seed that are saved, whether to put it down."""


def never(done: int) -> bool:
    """Nobody else is at work."""
    return False


def train_shared(
    train: Callable[[int, GiveWay], object],
    seeds: Sequence[int],
    out: Path,
    episodes: int,
    processes: int,
    stop: Event,
) -> None:
    """``train`` every seed that no other process has, one after the other, until all are finished.
    ``episodes`` are those of each seed."""
    folders = [SeedFolder(out, seed) for seed in seeds]
    for folder in folders:
        if folder.is_finished():
            train(folder.seed, never)  # tells of it
    while folders := [folder for folder in folders if not folder.is_finished()]:
        for folder in sorted(folders, key=SeedFolder.episodes):
            with claim(folder.path) as ours:
                if ours and not folder.is_finished():
                    others = [other for other in folders if other is not folder]
                    train(folder.seed, partial(_gives_way, others, BEHIND * episodes, processes))
                    break
        else:
            if stop.wait(PATIENCE):
                raise Stopped


def _gives_way(others: Sequence[SeedFolder], behind: float, processes: int, done: int) -> bool:
    free = (folder for folder in others if is_free(folder.path) and not folder.is_finished())
    waiting = list(islice(free, processes))
    return len(waiting) < processes and any(folder.episodes() < done - behind for folder in waiting)
