"""Watch a policy: one episode of it as a film."""

from pathlib import Path
from typing import Any

from offnac import files
from offnac.api import time_limit
from offnac.report import video
from offnac.report.animation import record
from offnac.report.choice import policy_folder
from offnac.run_folder import require_seeds
from offnac.saved_policy import Policy, load_policy

PICTURES = 600
"""In a film at most."""


def watch(
    policy: Policy | Path | str,
    environment: str | None = None,
    *,
    out: Path | str,
    first_seed: int = 0,
    max_steps: int | None = None,
) -> dict[str, Any]:
    """Film one episode of a policy, or of the middle seed of a run, and write it to ``out``, a .gif or .mp4.

    Without an ``environment`` it is the policy's own; without ``max_steps`` the time limit is that of the
    policy's training on it, else the task's own.
    """
    out = Path(out)
    require_seeds(1, first_seed)
    video.require_kind(out)
    files.require_absent(out)
    folder = None if isinstance(policy, Policy) else policy_folder(Path(policy))
    loaded = policy if isinstance(policy, Policy) else load_policy(policy_folder(Path(policy)))
    task = environment or loaded.spec.name
    limit = time_limit(loaded, task) if max_steps is None else max_steps
    film = record(loaded, task, first_seed, limit, PICTURES)
    video.save(film, out)
    return {
        "out": str(out),
        "policy": None if folder is None else str(folder),
        "environment": task,
        "first_seed": first_seed,
        "return": film.total,
        "steps": film.steps,
        "ended": film.ended,
        "pictures": len(film.pictures),
        "seconds": (len(film.pictures) * film.milliseconds) / 1000,
    }
