"""Ours beside the paper's, in words."""

import pytest

from offnac.experiments.verdict import number, reaches, verdict


def ours(iqm, low, high, seeds=16):
    return {"iqm": iqm, "low": low, "high": high, "seeds": seeds}


@pytest.mark.parametrize(
    ("summary", "meets", "sure", "words"),
    [
        (
            ours(499.8, 499.1, 500.0),
            True,
            True,
            "meets the paper's mean: IQM 499.8 ≥ 498.6, and so does all of the 95% interval [499.1, 500]",
        ),
        (
            ours(499.8, 420.123, 500.0),
            True,
            False,
            "meets the paper's mean: IQM 499.8 ≥ 498.6, but the 95% interval [420.12, 500] reaches below it",
        ),
        (
            ours(400.0, 300.0, 499.0),
            False,
            False,
            "below the paper's mean: IQM 400 < 498.6, but the 95% interval [300, 499] reaches it",
        ),
        (
            ours(400.0, 300.0, 450.0),
            False,
            True,
            "below the paper's mean: IQM 400 < 498.6, and so is all of the 95% interval [300, 450]",
        ),
        (
            ours(500.0, 500.0, 500.0, seeds=1),
            True,
            False,
            "meets the paper's mean: IQM 500 ≥ 498.6, of one seed only",
        ),
    ],
)
def test_the_interval_is_taken_into_account(summary, meets, sure, words):
    assert verdict(summary, 498.6) == (meets, sure, words)


def test_nothing_is_compared_more_finely_than_the_paper_prints():
    assert reaches(499.9951, 500.0)
    assert not reaches(499.994, 500.0)
    assert reaches(-83.914, -83.91)
    assert list(reaches([-300.0, -291.13, -291.0], -291.13)) == [False, True, True]


def test_numbers_are_short():
    assert [number(value) for value in (500.0, 498.6, -83.914, -0.001)] == ["500", "498.6", "-83.91", "0"]
