"""What a tracker is: somewhere that the numbers of one seed's run are sent to."""

from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Seed(NamedTuple):
    """The run to track."""

    out: Path
    seed: int
    about: dict[str, Any]
    """What run.json says: request, settings, versions."""

    @property
    def name(self) -> str:
        return f"seed-{self.seed}"


class Tracker(Protocol):
    package: str
    """What it needs, an extra of the tracker's name."""
    first: int
    """The first step that it does not have yet."""

    def write(self, step: int, numbers: dict[str, float]) -> None: ...

    def close(self, result: dict[str, float]) -> None:
        """``result`` is empty where the run was stopped."""
