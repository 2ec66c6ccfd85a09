"""Which policy of a run to look at: the middle seed's, never the luckiest."""

from collections.abc import Sequence
from pathlib import Path

from offnac import files, run_folder
from offnac.errors import UserError


def middle_seed(seeds: Sequence[int], values: Sequence[float]) -> int:
    order = sorted(range(len(values)), key=values.__getitem__)
    return int(seeds[order[len(order) // 2]])


def policy_folder(folder: Path) -> Path:
    """The policy that a folder stands for: of a run in a simulator its middle seed's best checkpoint, of one
    over a log what was chosen; a policy's folder stands for itself."""
    if (folder / "policy.json").exists():
        return folder
    if (folder / "policy" / "policy.json").exists():
        return folder / "policy"
    for name in ("best", "selected"):
        if (folder / name / "policy.json").exists():
            return folder / name
    if (folder / run_folder.RUN).exists():
        return _of_run(folder)
    if (folder / "runs").is_dir():
        found = sorted(path.parent for path in (folder / "runs").glob(f"*/{run_folder.RUN}"))
        hint = f"such as {found[0]}" if found else "once one has begun"
        raise UserError(f"{folder} holds many runs; give one of them, {hint}")
    return folder


def _of_run(folder: Path) -> Path:
    finished = [
        files.read_json(path)
        for path in sorted(folder.glob("seed-*/result.json"))
        if (path.parent / "best" / "policy.json").exists()
    ]
    if not finished:
        raise UserError(f"no seed in {folder} has finished yet; wait for one, or go on with --resume")
    seed = middle_seed([one["seed"] for one in finished], [one["test"]["mean"] for one in finished])
    return folder / f"seed-{seed}" / "best"
