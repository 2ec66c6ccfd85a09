"""offnac convert, as a user meets it."""

import json

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from offnac import cli, convert, read_log

from .records import changed, records

FOREIGN = ["--observation", "age,bp", "--action", "dose", "--reward", "gain", "--episode", "patient"]


def call(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def table(tmp_path):
    """Records of one's own, with names of one's own."""
    frame = pd.DataFrame({"patient": list("aaabbbccc"), "age": range(9), "bp": range(9, 0, -1)})
    frame["dose"], frame["gain"] = ["low", "high", "none"] * 3, range(9)
    frame.to_csv(tmp_path / "records.csv", index=False)
    return tmp_path / "records.csv"


def test_a_table_becomes_a_log(table, tmp_path, capsys):
    out = tmp_path / "log.parquet"
    status, printed, errors = call(capsys, "convert", table, out, *FOREIGN, "--actions", "none,low,high")
    assert (status, printed) == (0, f"{out}: 9 rows, 3 episodes (parquet)\n")
    assert errors.startswith("offnac: note: no column says how episodes end")
    assert errors.count("\n") == 1
    log = read_log(out)
    assert log.action_names == ("none", "low", "high")
    assert_array_equal(log.rows.action[:3], [1, 2, 0])
    status, printed, _ = call(capsys, "convert", out, tmp_path / "again.csv", "--json")
    result = json.loads(printed)
    assert status == 0
    assert (result["rows"], result["episodes"], result["behaviour"]) == (9, 3, None)
    again = read_log(tmp_path / "again.csv")
    for column, values in again.rows._asdict().items():
        assert_array_equal(values, getattr(log.rows, column))


def test_the_number_of_actions_can_be_declared(tmp_path, capsys):
    assert convert(records(), tmp_path / "log.parquet", actions=5)["actions"] == 5
    _, printed, _ = call(
        capsys, "convert", tmp_path / "log.parquet", tmp_path / "b.parquet", "--actions", 6, "--json"
    )
    assert json.loads(printed)["actions"] == 6


def test_bad_input_leaves_nothing_behind(table, tmp_path, capsys):
    cases = [
        ([table, "out.parquet"], "there is no column observation"),
        ([table, tmp_path / "out.xls", *FOREIGN], "should end in .parquet or .csv"),
        ([table, table, *FOREIGN], "exists already"),
        ([table, tmp_path / "out.csv", "--action", "doses"], "did you mean 'dose'?"),
        ([table, "minari:!", *FOREIGN], "called such as"),
        ([tmp_path / "nowhere.csv", tmp_path / "out.csv"], "there is nothing"),
        ([tmp_path, tmp_path / "out.csv"], "folder without one"),
        ([table], "required: OUT"),
    ]
    before = sorted(tmp_path.iterdir())
    for arguments, sentence in cases:
        status, printed, errors = call(capsys, "convert", *arguments)
        assert (status, printed) == (2, "")
        assert sentence in errors.splitlines()[-1], errors
        assert sorted(tmp_path.iterdir()) == before


def test_a_broken_chain_of_states_is_no_minari_dataset(tmp_path, monkeypatch):
    from offnac import UserError

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    broken = changed(next_observation=records()["observation"])
    with pytest.raises(UserError, match="rows 1, 2, 4 and 3 more of the log"):
        convert(broken, "minari:broken-v0")
    assert list(tmp_path.iterdir()) == []
