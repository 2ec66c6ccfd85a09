"""Films of policies on disk, each made once as long as the policy stays what it is."""

from functools import lru_cache
from pathlib import Path

from offnac.report.animation import Film, record
from offnac.saved_policy import load_policy

STEPS = {"CartPole-v1": 250}
"""Steps that a film shows at most where the task, done well, would go on and look all the same."""
MOST_STEPS = 1000


def filmed(folder: Path, environment: str, seed: int) -> Film:
    return _filmed(folder, environment, seed, (folder / "policy.json").stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _filmed(folder: Path, environment: str, seed: int, _: int) -> Film:
    return record(load_policy(folder), environment, seed, STEPS.get(environment, MOST_STEPS))
