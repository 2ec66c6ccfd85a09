"""Seeds become a curve and a band; what is odd about them does not disappear."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from offnac.errors import UserError
from offnac.report import curves

CURVES = np.random.default_rng(0).normal(size=(8, 1000)).cumsum(axis=1)


def written(tmp_path, rows):
    """A file with these (seed, episode, average) of one cell."""
    seeds, episodes, averages = (list(column) for column in zip(*rows, strict=True))
    names = {"cell": ["c"] * len(rows), "preset": ["p"] * len(rows), "seed": seeds, "episode": episodes}
    pq.write_table(pa.table(names | dict.fromkeys(curves.AVERAGES, averages)), tmp_path / "curves.parquet")
    return curves.read(tmp_path / "curves.parquet")["c", "p"]["average_published"]


def test_a_band_is_the_interquartile_mean_with_the_middle_half():
    band = curves.reduce(CURVES)
    assert len(band.x) == curves.POINTS
    assert (band.x[0], band.x[-1]) == (0, 999)
    assert_allclose(band.middle, stats.trim_mean(CURVES, 0.25, axis=0)[band.x])
    assert_allclose(band.low, np.quantile(CURVES, 0.25, axis=0)[band.x])
    assert_allclose(band.high, np.quantile(CURVES, 0.75, axis=0)[band.x])


def test_a_diverged_seed_counts_as_the_worst():
    broken = np.zeros((4, 3))
    broken[0, 1] = np.nan
    assert_array_equal(curves.reduce(broken).middle, [0, 0, 0])
    broken[1, 1] = np.nan
    assert_array_equal(np.isfinite(curves.reduce(broken).middle), [True, False, True])


def test_curves_go_as_far_as_every_seed_has_come_and_count_from_one(tmp_path):
    rows = [(1, 0, 10.0), (0, 1, 2.0), (0, 0, 0.0), (1, 1, 4.0), (0, 2, 9.0)]
    band = written(tmp_path, rows)
    assert_array_equal(band.x, [1, 2])
    assert_allclose(band.middle, [5.0, 3.0])


def test_thinned_curves_keep_their_episodes(tmp_path):
    band = written(tmp_path, [(seed, episode, 1.0) for seed in (0, 1) for episode in (0, 50, 99)])
    assert_array_equal(band.x, [1, 51, 100])


def test_every_cell_and_preset_is_read(reproduction):
    bands = curves.read(reproduction / "curves.parquet")
    assert len(bands) == 40
    table = pq.read_table(reproduction / "curves.parquet").to_pydict()
    last = [
        value
        for cell, preset, episode, value in zip(
            table["cell"], table["preset"], table["episode"], table["average_printed"], strict=True
        )
        if (cell, preset, episode) == ("acrobot-nac", "robust", 119)
    ]
    assert_allclose(
        bands["acrobot-nac", "robust"]["average_printed"].middle[-1], stats.trim_mean(last, 0.25), rtol=1e-6
    )


def test_only_costs_of_very_different_sizes_ask_for_a_logarithm():
    assert curves.spans_decades([-9000, -np.inf, -120])
    assert not curves.spans_decades([-500, -80])
    assert not curves.spans_decades([-9000, 200])
    assert not curves.spans_decades([])


def test_a_missing_or_foreign_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="is not there"):
        curves.read(tmp_path / "curves.parquet")
    pq.write_table(pa.table({"other": [1]}), tmp_path / "curves.parquet")
    with pytest.raises(UserError, match="does not hold a reproduction's curves"):
        curves.read(tmp_path / "curves.parquet")
    (tmp_path / "curves.parquet").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="damaged"):
        curves.read(tmp_path / "curves.parquet")
