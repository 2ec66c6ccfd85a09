"""The table of aims says yes only where a result file bears it."""

from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def met(monkeypatch):
    """Of results by part: which aims are met."""
    monkeypatch.syspath_prepend(str(DOCS))
    module = import_module("aims")
    return lambda **found: [aim.met for aim in module.aims(found)]


def curve(exponent):
    return {"against": "rows", "what": "read", "sizes": [1, 2], "exponent": exponent}


def test_what_was_not_measured_is_not_told(met):
    assert met() == []
    assert met(growth={"curves": [curve(None)]}, online={"rows": []}) == []


def test_growth_just_within_and_just_beyond(met):
    assert met(growth={"curves": [curve(1.05), curve(1.06)]}) == [True, False]


def test_a_last_policy_must_beat_every_other_and_never_is_later_than_any_time(met):
    def row(ours, *theirs):
        told = {"environment": "task", "goal": 5.0}
        named = [("d3rlpy one", one) for one in (*theirs, never)] + [("offnac learn", ours)]
        named.append(("offnac learn, most probable actions", {"seconds_to_goal": 1.0, "last": 9.0}))
        return {"rows": [{**told, "learner": name, **one} for name, one in named]}

    soon, never = {"seconds_to_goal": 2.0, "last": 7.0}, {"seconds_to_goal": None, "last": 3.0}
    assert met(log_learners=row(soon, never)) == [True, True]
    assert met(log_learners=row(never, soon)) == [False, False]
    assert met(log_learners=row(never, never)) == [False, False]


def test_on_a_gpu_the_slowest_number_of_seeds_must_do(met):
    def rows(*rates):
        told = {"task": "CartPole-v1", "algorithm": "nac"}
        return {
            "rows": [{**told, "seeds": seeds, "steps_per_second": {"median": rate}} for seeds, rate in rates]
        }

    assert met(gpu=rows((132, 41e6), (132, 2e6), (8448, 50e6), (64, 1e6))) == [True]
    assert met(gpu=rows((132, 39e6), (8448, 50e6))) == [False]
    assert met(gpu=rows((64, 1e6))) == []
