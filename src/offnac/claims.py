"""Folders that several processes take one after the other, each by one of them alone."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claim(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Whether it is ours, and then only ours until we leave it, or end, however that comes about. Who waits
    gets it in the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".claim").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            ours = True
        except BlockingIOError:
            ours = False
        yield ours
