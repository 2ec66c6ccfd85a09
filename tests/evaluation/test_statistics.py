"""Summaries agree with NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from offnac.evaluation.statistics import (
    across_seeds,
    interquartile_mean,
    of_episodes,
    probability_of_improvement,
    quantiles,
)

numbers = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=50)
many_numbers = st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=50)


@given(numbers)
def test_mean_sd_and_se_are_numpys(values):
    summary = of_episodes(values)
    assert summary["episodes"] == len(values)
    assert_allclose(summary["mean"], np.mean(values), rtol=1e-9, atol=1e-9)
    if len(values) > 1:
        assert_allclose(summary["sd"], np.std(values, ddof=1), rtol=1e-9, atol=1e-9)
        assert_allclose(summary["se"], stats.sem(values), rtol=1e-9, atol=1e-9)
    else:
        assert (summary["sd"], summary["se"]) == (0.0, 0.0)


@given(numbers)
def test_quantiles_are_numpys_and_in_order(values):
    found = quantiles(values)
    assert list(found) == ["0", "0.05", "0.25", "0.5", "0.75", "0.95", "1"]
    assert_allclose(list(found.values()), np.quantile(values, [float(q) for q in found]), atol=1e-9)
    assert (found["0"], found["1"]) == (min(values), max(values))
    assert found["0.5"] == pytest.approx(np.median(values))


def test_the_interquartile_mean_leaves_out_a_quarter_on_each_side():
    assert interquartile_mean([1e9, 1, 2, 3, 4, 5, 6, -1e9]) == pytest.approx(np.mean([2, 3, 4, 5]))
    assert interquartile_mean([5.0]) == 5.0


@given(many_numbers, st.randoms())
@settings(max_examples=5, deadline=None)
def test_the_interval_holds_the_interquartile_mean_and_ignores_the_order_of_seeds(values, random):
    summary = across_seeds(values)
    assert summary["low"] <= summary["iqm"] + 1e-6
    assert summary["iqm"] <= summary["high"] + 1e-6
    assert summary["worst"] <= summary["median"] <= summary["best"]
    assert (summary["worst"], summary["best"]) == (min(values), max(values))
    assert summary["seeds"] == len(values)
    assert_allclose(summary["iqm"], stats.trim_mean(values, 0.25))
    shuffled = random.sample(values, len(values))
    assert across_seeds(shuffled)["iqm"] == pytest.approx(summary["iqm"])


def test_seeds_that_agree_have_an_interval_of_no_width():
    for values in ([3.0], [3.0, 3.0, 3.0]):
        summary = across_seeds(values)
        assert (summary["low"], summary["iqm"], summary["high"]) == (3.0, 3.0, 3.0)


def test_more_seeds_give_a_narrower_interval():
    rng = np.random.default_rng(0)
    few, many = (across_seeds(rng.normal(size=n)) for n in (8, 512))
    assert many["high"] - many["low"] < 0.4 * (few["high"] - few["low"])
    assert many["low"] < 0.1
    assert many["high"] > -0.1


def test_the_interval_is_wider_for_more_confidence():
    values = np.random.default_rng(0).normal(size=16)
    usual, sure = across_seeds(values), across_seeds(values, confidence=0.999)
    assert sure["low"] < usual["low"]
    assert usual["high"] < sure["high"]


few_values = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)


@given(few_values, few_values)
@settings(max_examples=50, deadline=None)
def test_the_probability_of_improvement_is_mann_whitneys_and_that_of_all_pairs(x, y):
    found = probability_of_improvement(x, y, resamples=50)
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in x for b in y]
    assert found["probability"] == pytest.approx(np.mean(pairs))
    assert found["probability"] == pytest.approx(stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)))
    other = probability_of_improvement(y, x, resamples=50)
    assert other["probability"] == pytest.approx(1.0 - found["probability"])
    assert 0.0 <= found["low"] <= found["high"] <= 1.0
    assert found["seeds"] == [len(x), len(y)]


def test_the_interval_of_the_improvement_is_scipys_bootstrap():
    rng = np.random.default_rng(1)
    x, y = rng.normal(0.5, size=16), rng.normal(size=12)

    def statistic(x, y):
        return (x[:, None] > y).mean()

    theirs = stats.bootstrap(
        (x, y), statistic, vectorized=False, method="percentile", n_resamples=4000, rng=rng
    ).confidence_interval
    ours = probability_of_improvement(x, y, resamples=20_000)
    assert_allclose([ours["low"], ours["high"]], [theirs.low, theirs.high], atol=0.02)


def test_what_is_always_better_is_certainly_better():
    found = probability_of_improvement([5.0, 6.0], [1.0, 2.0, 3.0])
    assert (found["probability"], found["low"], found["high"]) == (1.0, 1.0, 1.0)
