"""Films of policies on disk, each made once as long as the policy stays what it is."""

from functools import lru_cache
from pathlib import Path

from offnac.report.animation import Film, record
from offnac.report.learned import film_steps
from offnac.saved_policy import load_policy


def filmed(folder: Path, environment: str, seed: int) -> Film:
    return _filmed(folder, environment, seed, (folder / "policy.json").stat().st_mtime_ns)


@lru_cache
def _filmed(folder: Path, environment: str, seed: int, _: int) -> Film:
    return record(load_policy(folder), environment, seed, film_steps(environment))
