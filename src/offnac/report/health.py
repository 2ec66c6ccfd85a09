"""Charts of how learning went, and of what it holds in the end: the same for every kind of run."""

from functools import lru_cache
from html import escape
from pathlib import Path

import numpy as np

from offnac import files
from offnac.errors import UserError
from offnac.report.chart import Chart, Series
from offnac.report.curves import Band, spans_decades
from offnac.report.diagnosis import Diagnosis, diagnose
from offnac.report.lines import histogram_chart, line
from offnac.report.records import Records, band
from offnac.run_folder import RUN

ON_POLICY = "<p>On-policy every weight is exactly 1, so that there is no histogram of weights to show.</p>"


def charts(records: Records, x: str, columns: dict[str, tuple[str, str]]) -> str:
    """One chart for each column that was recorded: its title, and what its height is."""
    drawn = []
    name = f"{len(records)} seeds" if len(records) > 1 else f"seed {next(iter(records), 0)}"
    for column, (title, y) in columns.items():
        found = band(records, column)
        if found is not None:
            series = [Series(name, {column: found})]
            drawn.append(Chart(title, x, y, series, log=spans_decades(found.middle)).html("h3"))
    return f'<div class="charts">\n{"".join(drawn)}\n</div>' if drawn else ""


def of_seed(out: Path, seed: int) -> str:
    """Weights and values of a seed of the run in ``out``, after its last episode."""
    try:
        found = _diagnosis(out, seed, (out / f"seed-{seed}" / "result.json").stat().st_mtime_ns)
    except (UserError, OSError) as error:
        return f"<p>They could not be looked at: {escape(str(error))}.</p>"
    return f"<p>Of seed {seed} after the last episode.</p>\n" + diagnosed(found)


@lru_cache
def _diagnosis(out: Path, seed: int, _: int) -> Diagnosis:
    """Looked at once as long as the seed stays what it is."""
    return diagnose(out, files.read_json(out / RUN)["request"], seed)


def diagnosed(found: Diagnosis) -> str:
    """The weights' histogram beside V against what followed."""
    values = found.values
    band = Band(_short(values.value), values.mean, values.low, values.high)
    ends = [np.nanmin(values.value), np.nanmax(values.value)]
    drawn = Chart(
        "The critic’s V against rollouts",
        "V(s)",
        f"discounted return, γ = {found.gamma:g}",
        [
            Series("what followed: mean and middle half", {"return": band}),
            Series("as promised", {"return": line(ends, ends)}, 1, 2),
        ],
    ).html("h3")
    weights = ON_POLICY
    if found.weights is not None:
        drawn = histogram_chart("wρ of the behaviour’s rows", "wρ", "rows", found.weights) + drawn
        weights = (
            "<p>Where few rows carry most of the weight, learning rests on few rows; the last bar holds all "
            "that is above it.</p>"
        )
    return f'{weights}\n<div class="charts">\n{drawn}\n</div>'


def _short(values: np.ndarray) -> np.ndarray:
    return np.array([float(f"{value:.5g}") for value in values])
