"""A reproduction made small enough to keep: the summary, thinned curves, the figures.

``offnac reproduce --publish DIR`` does it at the end; ``python -m offnac.experiments.publish OUT DIR``
whenever there is a summary.
"""

import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq

from offnac import files
from offnac.errors import UserError
from offnac.experiments import curves
from offnac.experiments.summary import FORMAT, SUMMARY

POINTS = 200
"""Points of a run's curve that are kept at most."""
FIGURES = "figures"


def publish(out: Path, target: Path) -> None:
    """Copy what matters of the reproduction in ``out`` to ``target``; what was there before is replaced."""
    summary = files.read_json(out / SUMMARY)
    if summary.get("format") != FORMAT:
        raise UserError(f"{out} holds no reproduction; give the --out of one")
    files.write_json(target / SUMMARY, summary)
    table = curves.thin(pq.read_table(out / curves.CURVES), POINTS)
    with files.replacing(target / curves.CURVES) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    if (out / FIGURES).is_dir():
        with files.replacing(target / FIGURES) as temporary:
            shutil.copytree(out / FIGURES, temporary)


if __name__ == "__main__":
    try:
        publish(Path(sys.argv[1]), Path(sys.argv[2]))
    except UserError as error:
        raise SystemExit(f"offnac: {error}") from error
