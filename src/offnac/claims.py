"""Folders that several processes take one after the other, each by one of them alone."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Whether it is ours, and then only ours until we leave it, or end, however that comes about."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".claim").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = True
        except BlockingIOError:
            ours = False
        yield ours


def is_free(folder: Path) -> bool:
    """Whether nobody has it at this moment. One that was never taken is not made for the asking."""
    if not (folder / ".claim").exists():
        return True
    with claim(folder) as ours:
        return ours
