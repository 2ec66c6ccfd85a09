"""The folder of a run: begun once, and gone on with only as what it was."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from offnac import files
from offnac.errors import UserError

RUN = "run.json"
TRAINING, LEARNING, TUNING = "offnac-run", "offnac-learn", "offnac-tune"
"""What run.json calls itself: a run in a simulator, a run over a log, a search for settings."""


def before(
    out: Path, kind: str, request: dict[str, Any], settings: dict[str, Any], resume: bool
) -> dict[str, Any]:
    """What run.json says of the run so far; nothing where it begins now."""
    if (out / RUN).exists():
        if not resume:
            raise UserError(
                f"{out} exists already; go on in it with --resume, choose another --out, or remove it first"
            )
        return _require_same(out, kind, request, settings)
    if not resume or any(out.glob("*")):
        files.require_absent(out)
    return {}


def _require_same(out: Path, kind: str, request: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """A run can only be resumed as what it was."""
    before = files.read_json(out / RUN)
    if not isinstance(before, dict) or before.get("format") != kind:
        raise UserError(f"{out / RUN} does not describe a run of this command; choose another --out")
    for name in sorted({*before.get("request", {}), *request}):
        old, new = before.get("request", {}).get(name), request.get(name)
        if old != new:
            raise UserError(
                f"{out} was begun with {name} = {old}, but now it is {new}; "
                "resume with the same options, or choose another --out"
            )
    if before.get("settings") != json.loads(json.dumps(settings)):
        raise UserError(
            f"{out} was begun with other settings than this version has for the same options; "
            "choose another --out, or remove it first"
        )
    return before


def write_csv(out: Path, seeds: Iterable[int], table: str) -> None:
    """The seeds' tables below each other, for programs that read no Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    tables = []
    for seed in seeds:
        path = out / f"seed-{seed}" / f"{table}.parquet"
        if path.exists():  # else begun by a command that stopped before it came to this seed
            rows = pq.read_table(path)
            tables.append(rows.add_column(0, "seed", pa.array([seed] * len(rows), pa.int32())))
    # An earlier version may not have kept all that is kept now.
    together = pa.concat_tables(tables, promote_options="default")
    with files.replacing(out / f"{table}.csv") as temporary:
        pyarrow.csv.write_csv(together, temporary)


def require_seeds(seeds: int, first_seed: int) -> None:
    if seeds < 1:
        raise UserError(f"at least one seed is needed, but --seeds is {seeds}")
    if not 0 <= first_seed <= 2**31 - seeds:
        raise UserError(
            "seeds are whole numbers from 0 to 2147483647, but --first-seed is "
            f"{first_seed}{f' and --seeds is {seeds}' if seeds > 1 else ''}"
        )


def require_workers(workers: int | None) -> None:
    if workers is not None and workers < 1:
        raise UserError(f"at least one core is needed, but --workers is {workers}")
