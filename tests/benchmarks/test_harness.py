"""The benchmark's own logic, not its numbers: turns, ratios, exponents, rows that stay, missing peers."""

import os
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The benchmark's files, which set variables of the environment, for the time of a test."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    yield
    for name in ("harness", "peers"):
        sys.modules.pop(name, None)


@pytest.fixture
def harness():
    return import_module("harness")


def test_contenders_take_turns_and_the_first_round_does_not_count(harness):
    calls, numbers = [], iter(range(100))

    def one(name):
        calls.append(name)
        return float(next(numbers))

    found = harness.in_turn({"a": lambda: one("a"), "b": lambda: one("b")}, repeats=2)
    assert calls == ["a", "b"] * 3
    assert found == {"a": [2.0, 4.0], "b": [3.0, 5.0]}


def test_who_is_missing_is_left_out(harness):
    assert harness.in_turn({"a": lambda: 1.0, "gone": lambda: None}, repeats=1) == {"a": [1.0]}


def test_a_ratio_is_taken_within_each_round(harness):
    assert harness.ratio([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == 2.0


def test_exponent(harness):
    assert harness.exponent([1, 10, 100], [3.0, 30.0, 300.0]) == pytest.approx(1.0)
    assert harness.exponent([1, 10, 100], [3.0, 300.0, 30000.0]) == pytest.approx(2.0)


def test_a_row_is_measured_once_unless_asked_for_again(harness, tmp_path):
    measured = []

    def part(**changes):
        given = Namespace(**({"out": tmp_path, "only": "", "again": False, "clock": "wall"} | changes))
        results = harness.Results("part", "Part", "about", given)
        for size in (1, 2):
            results.measure({"size": size}, lambda size=size: measured.append(size) or {"cost": size})
            results.write(["size", "cost"], lambda row: [str(row["size"]), str(row["cost"])])
        return harness.files.read_json(tmp_path / "part.json")

    part()
    record = part()
    assert measured == [1, 2]
    assert record["table"] == {"columns": ["size", "cost"], "rows": [["1", "1"], ["2", "2"]]}
    assert {"machine", "versions", "date", "shared"} <= set(record)
    part(again=True, only="2")
    assert measured == [1, 2, 2]


def test_peers_that_are_missing_answer_nothing(harness, monkeypatch, tmp_path, capsys):
    peers = import_module("peers")
    monkeypatch.setattr(peers, "PYTHON", tmp_path / "none")
    with peers.Peer("stable_baselines.py") as peer:
        assert peer.versions == {} and peer.ask(job="steps") is None
    assert "missing" in capsys.readouterr().err
