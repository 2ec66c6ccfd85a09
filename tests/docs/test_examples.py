"""The examples do what they say, on small budgets."""

import json
from importlib import import_module
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_the_records_are_those_that_the_clinic_writes(tmp_path: Path) -> None:
    clinic = import_module("clinic")
    clinic.write_records(tmp_path / "records.csv")
    assert (tmp_path / "records.csv").read_text() == clinic.RECORDS.read_text()


def test_learning_from_a_table_beats_those_who_wrote_it(tmp_path: Path) -> None:
    found = import_module("learn_from_csv").main(tmp_path / "out", iterations=30)
    assert found["truth"] > found["earned"] + 1.0
    assert found["verdict"] != "unsupported"


def test_an_environment_of_ones_own_is_trained_in(tmp_path: Path) -> None:
    run = import_module("train_custom_environment").main(tmp_path / "out", episodes=5)
    assert run["train_steps"] > 5


@pytest.mark.parametrize(
    ("name", "episodes"), [("new_critic", 20), ("new_ratio", 5), ("new_environment", 20)]
)
def test_a_role_of_ones_own_takes_its_place(name: str, episodes: int, tmp_path: Path) -> None:
    run = import_module(name).main(tmp_path, episodes=episodes)
    assert run["test"]["mean"] > 0.0


def test_an_existing_policy_is_valued_from_a_log(tmp_path: Path) -> None:
    found = import_module("evaluate_off_policy").main(tmp_path, steps=1500)
    assert set(found["found"]["estimators"]) >= {"fitted_q", "doubly_robust"}
    assert found["truth"] > 50.0


def test_the_notebook_runs_and_was_stored_without_its_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for cell in code:
        source = "".join(cell["source"]).replace("iterations=100", "iterations=5")
        exec(compile(source, cell["id"], "exec"), names)
    assert all(cell["outputs"] == [] for cell in code)
