"""A reproduction made small enough to keep: the summary, thinned curves, the figures.

``offnac reproduce --publish DIR`` does it at the end; ``python -m offnac.experiments.publish OUT DIR``
whenever there is a summary.
"""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from offnac import files
from offnac.errors import UserError
from offnac.experiments import curves, figures
from offnac.experiments.summary import FORMAT, SUMMARY, held, improvements, in_order

POINTS = 200
"""Points of a run's curve that are kept at most."""

Found = dict[str, Any]


def publish(out: Path, target: Path) -> None:
    """Keep in ``target`` what matters of the reproduction in ``out``, beside the runs that are there of other
    cells and presets."""
    found, table = _summary(out), curves.thin(pq.read_table(out / curves.CURVES), POINTS)
    before = _summary(target) if (target / SUMMARY).exists() else {"cells": []}
    anew = set(map(_name, found["cells"]))
    if others := [entry for entry in before["cells"] if _name(entry) not in anew]:
        found = _beside(before, found, others, target)
        table = pa.concat_tables([_of(pq.read_table(target / curves.CURVES), others), table])
    files.write_json(target / SUMMARY, found)
    with files.replacing(target / curves.CURVES) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    figures.draw(target)


def _summary(folder: Path) -> Found:
    found: Found = files.read_json(folder / SUMMARY)
    if found.get("format") != FORMAT:
        raise UserError(f"{folder} holds no reproduction; give the --out of one")
    return found


def _name(entry: Found) -> str:
    """As :func:`offnac.experiments.jobs.run_name` has it."""
    return f"{entry['cell']}-{entry['preset']}"


def _beside(before: Found, found: Found, others: list[Found], target: Path) -> Found:
    """What was found, and ``others`` that were there before, as one summary."""
    if before["settings"] != found["settings"]:
        raise UserError(
            f"{target} holds runs of another protocol, {before['settings']}, and these are of "
            f"{found['settings']}; publish them to another folder"
        )
    entries = {_name(entry): entry for entry in (*others, *found["cells"])}
    unfinished = dict.fromkeys((*before["unfinished"], *found["unfinished"]))
    return found | {
        **held(entries.values()),
        "unfinished": [name for name in unfinished if name not in entries],
        "seconds": sum(entry["seconds"] for entry in entries.values()),
        "cells": in_order(entries),
        "improvement": improvements(entries),
    }


def _of(table: pa.Table, entries: list[Found]) -> pa.Table:
    """The curves of some runs."""
    names = pc.binary_join_element_wise(table["cell"], table["preset"], "-")
    return table.filter(pc.is_in(names, pa.array(map(_name, entries), pa.string())))


if __name__ == "__main__":
    try:
        publish(Path(sys.argv[1]), Path(sys.argv[2]))
    except UserError as error:
        raise SystemExit(f"offnac: {error}") from error
