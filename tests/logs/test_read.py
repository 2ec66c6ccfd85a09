"""A log is read whole or refused in one sentence; what was decided about it is told."""

import re
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from offnac import UserError, api, read_log
from offnac.logs.log import FITTED, LOGGED
from offnac.logs.write import write_log

from .records import changed, put, records

nan = np.nan


def told(source, **names):
    """The sentence that a log is refused with."""
    with pytest.raises(UserError) as refused:
        read_log(source, **names)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


def assert_same(log, other):
    assert (log.spec.observation_size, log.spec.actions) == (other.spec.observation_size, other.spec.actions)
    assert_array_equal(log.episode, other.episode)
    for column, values in log.rows._asdict().items():
        expected = getattr(other.rows, column)
        assert values.dtype == expected.dtype, column
        assert_array_equal(values, expected, err_msg=column)


def test_a_good_log_is_taken_as_it_is():
    log, table = read_log(records()), records()
    assert (len(log), log.episodes, log.behaviour, log.warnings) == (9, 3, LOGGED, ())
    assert log.spec.actions == 3
    for name in log.rows._fields:
        assert_array_equal(getattr(log.rows, name), table[name], err_msg=name)
    assert log.rows.observation.dtype == log.rows.reward.dtype == np.float32
    assert log.rows.action.dtype == log.rows.step.dtype == np.int32


@pytest.mark.parametrize("form", ["parquet", "csv", "minari"])
def test_every_format_gives_the_same_log(form, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    out = "minari:some/log-v0" if form == "minari" else tmp_path / f"log.{form}"
    log = read_log(records())
    assert write_log(log, out) == form
    again = read_log(out)
    assert_same(again, log)
    assert again.behaviour == LOGGED
    assert again.warnings == ()
    with pytest.raises(UserError, match="exists already"):
        write_log(log, out)


def test_a_data_frame_gives_the_same_log():
    flat = records()
    for name in ("observation", "next_observation"):
        matrix = flat.pop(name)
        flat |= {f"{name}_{i}": matrix[:, i] for i in range(2)}
    log = read_log(records())
    assert_same(read_log(pd.DataFrame(flat)), log)
    assert_same(read_log(pa.table(flat)), log)
    lists = {
        name: values.tolist() if getattr(values, "ndim", 1) == 2 else values
        for name, values in records().items()
    }
    assert_same(read_log(pd.DataFrame(lists)), log)


def test_a_collected_log_is_read_as_it_was_written(tmp_path):
    api.collect("tabular-chain", steps=300, out=tmp_path / "log")
    log = read_log(tmp_path / "log")
    assert log.spec.name == "tabular-chain"
    assert (log.spec.observation_size, log.spec.actions) == (8, 2)
    table = pq.read_table(tmp_path / "log")
    assert_array_equal(log.rows.action, table["action"])
    assert_array_equal(log.rows.next_observation, np.stack(table["next_observation"].to_numpy()))
    # The number of actions is the task's, even where one was never taken.
    api.collect("tabular-random", steps=1, out=tmp_path / "short")
    short = read_log(tmp_path / "short")
    assert short.spec.actions == 3
    assert any("nobody took the action" in warning for warning in short.warnings)


def test_what_offnac_knows_of_a_log_survives_parquet(tmp_path):
    frame = pd.DataFrame(
        {**changed("observation", "next_observation"), "age": range(9), "bp": range(9, 0, -1)}
    )
    frame["action"] = frame["action"].map({0: "low", 1: "mid", 2: "high"})
    log = read_log(frame, observation=("age", "bp"), action="action")
    assert log.action_names == ("high", "low", "mid")
    write_log(log, tmp_path / "log.parquet")
    again = read_log(tmp_path / "log.parquet")
    assert (again.action_names, again.observation_names) == (log.action_names, ("age", "bp"))
    unknown = read_log(changed("behaviour_prob"))
    assert (unknown.behaviour, set(unknown.rows.behaviour_prob)) == (None, {1})
    write_log(unknown, tmp_path / "unknown.parquet")
    assert read_log(tmp_path / "unknown.parquet").behaviour is None
    fitted = pq.read_table(tmp_path / "log.parquet").replace_schema_metadata(
        {"offnac.behaviour_prob": FITTED}
    )
    assert read_log(fitted).behaviour == FITTED


def test_declared_labels_have_their_declared_numbers():
    labels = np.array(["low", "mid", "high"])[records()["action"]]
    log = read_log(changed(action=labels), actions=("low", "mid", "high"))
    assert_array_equal(log.rows.action, records()["action"])
    assert log.action_names == ("low", "mid", "high")
    sentence = told(changed(action=labels), actions=("low", "mid"))
    assert "declared actions (low, mid)" in sentence
    assert "rows 3 and 6" in sentence
    doses = read_log(changed(action=np.array([0.5, 2.0, 10.0])[records()["action"]]))
    assert doses.action_names == ("0.5", "2", "10")
    # Numbers that leave gaps are labels where a table of one's own names them.
    assert read_log(changed(action=records()["action"] * 5), action="action").action_names == ("0", "5", "10")
    assert read_log(records(), action="action").action_names is None
    assert read_log(records(), actions=7).spec.actions == 7


def test_a_column_may_play_two_parts(tmp_path):
    frame = pd.DataFrame({**changed("observation", "next_observation"), "x": range(9)})
    frame.to_csv(tmp_path / "log.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "log.parquet")
    for source in (frame, tmp_path / "log.csv", tmp_path / "log.parquet"):
        log = read_log(source, observation=("x", "step"))
        assert_array_equal(log.rows.observation[:, 1], log.rows.step)


def test_the_next_row_tells_where_a_row_leads():
    log = read_log(changed("next_observation"))
    assert len(log) == 8, "the cut episode's last row led nobody knows where"
    assert log.warnings == ("nothing says where the last step led in 1 episode cut short; left out: row 7",)
    kept = np.arange(9) != 6
    known = ~log.rows.terminated
    assert_array_equal(log.rows.observation, records()["observation"][kept])
    assert_array_equal(log.rows.next_observation[known], records()["next_observation"][kept][known])
    assert_array_equal(log.rows.truncated, [0, 0, 0, 0, 0, 1, 0, 0])
    assert np.isfinite(log.rows.next_observation).all()


def test_episodes_that_were_joined_late_begin_where_they_were_joined():
    table = changed("next_observation", "truncated", step=[0, 5, 6, 3, 4, 5, 6, 3, 4])
    table["episode"] = np.array([0, 1, 1, 2, 2, 2, 2, 3, 3])
    log = read_log(table)
    assert 0 not in log.rows.step, "the only first step is a row that led nobody knows where"
    assert_array_equal(log.initial, log.starts)
    assert_array_equal(read_log(records()).initial, [0, 3, 7])


def test_where_nothing_follows_nothing_need_be_known():
    log = read_log(changed(next_observation=put("next_observation", [2, 6], nan)))
    assert len(log) == 8
    assert "left out: row 7" in log.warnings[0]
    assert np.isfinite(log.rows.next_observation).all()
    sentence = told(changed(next_observation=put("next_observation", [1], nan)))
    assert "next_observation" in sentence and "row 2" in sentence


def test_rows_of_interleaved_episodes_are_brought_together():
    order = [3, 0, 7, 4, 1, 5, 8, 2, 6]
    mixed = {name: values[order] for name, values in records().items()}
    log = read_log(mixed)
    assert_array_equal(log.rows.reward, [3, 4, 5, 6, 0, 1, 2, 7, 8])
    assert_array_equal(log.episode, np.repeat([0, 1, 2], (4, 3, 2)))
    assert "brought together" in log.warnings[0]
    # A row is told by its place in the table.
    mixed["terminated"] = mixed["terminated"].copy()
    mixed["terminated"][1] = True
    assert "after row 2 the same episode goes on" in told(mixed)


@pytest.mark.parametrize(
    ("left_out", "changes", "warning"),
    [
        (("step",), {}, None),
        ((), {"step": records()["step"] + 1}, None),
        ((), {"episode": np.array(list("aaabbbbcc"))}, None),
        (("episode",), {}, None),
        (("truncated",), {}, "without a termination at the end"),
        (("terminated",), {}, "there is no column for terminated"),
        (("terminated", "truncated"), {"done": records()["terminated"]}, "the column done is taken"),
        (("terminated", "truncated", "episode"), {}, "no column says how episodes end"),
        (("terminated", "truncated"), {}, "no column says how episodes end"),
        ((), {"terminated": np.array(["no", "No", "yes", "0", "0", "0", "0", "f", "TRUE"])}, None),
        ((), {"truncated": put("truncated", [6], False)}, "row 7 are neither terminated nor truncated"),
        ((), {"action": records()["action"].astype(float)}, None),
        ((), {"reward": [str(value) for value in range(9)]}, None),
    ],
)
def test_what_a_table_lacks_is_decided_and_told(left_out, changes, warning):
    log, good = read_log(changed(*left_out, **changes)), read_log(records())
    ends = log.rows.terminated | log.rows.truncated
    assert_array_equal(ends, good.rows.terminated | good.rows.truncated)
    for column in ("observation", "action", "reward", "step"):
        assert_array_equal(getattr(log.rows, column), getattr(good.rows, column))
    assert_array_equal(log.episode, good.episode)
    if warning is None:
        assert log.warnings == ()
        assert_array_equal(log.rows.terminated, good.rows.terminated)
    else:
        assert warning in log.warnings[0]


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"reward": put("reward", [1, 4], nan)}, ["column reward", "NaN", "rows 2 and 5"]),
        ({"reward": put("reward", [0], np.inf)}, ["infinite", "row 1;"]),
        ({"reward": put("reward", [0, 1, 2, 3, 4], -np.inf)}, ["rows 1, 2, 3 and 2 more"]),
        ({"reward": np.full(9, 1e300)}, ["infinite", "rows 1, 2, 3 and 6 more"]),
        ({"reward": ["a"] + ["1"] * 8}, ["should hold numbers", "'a'", "row 1"]),
        ({"reward": pd.date_range("2020", periods=9)}, ["should hold numbers", "timestamp"]),
        ({"reward": pa.array([None] * 9)}, ["missing"]),
        ({"observation": put("observation", [8], nan)}, ["observation", "NaN", "row 9"]),
        ({"observation": pa.array([[1.0]] * 4 + [[1.0, 2.0]] + [[3.0]] * 4)}, ["length 1", "row 5"]),
        ({"observation": [[]] * 9}, ["empty"]),
        ({"observation": np.zeros((9, 3))}, ["next_observation should have 3 numbers"]),
        ({"action": put("action", [2], -1)}, ["actions from 0", "row 3"]),
        ({"action": put("action", [2], 10**9)}, ["different actions"]),
        ({"action": pa.array([None, *[1] * 8])}, ["action has missing values in row 1"]),
        ({"behaviour_prob": put("behaviour_prob", [3], 0.0)}, ["(0, 1]", "row 4"]),
        ({"behaviour_prob": put("behaviour_prob", [3, 5], 1.5)}, ["(0, 1]", "rows 4 and 6"]),
        ({"behaviour_prob": put("behaviour_prob", [3], nan)}, ["behaviour_prob", "NaN"]),
        ({"step": put("step", [1, 2], [[2, 1]])}, ["steps should go up by 1", "row 3"]),
        ({"step": put("step", [1], 0)}, ["steps should go up by 1", "row 2"]),
        ({"step": records()["step"] + 0.5}, ["whole numbers"]),
        ({"terminated": put("terminated", [0, 3], True)}, ["after rows 1 and 4 the same episode goes on"]),
        ({"truncated": put("truncated", [3], True)}, ["after row 4 the same episode goes on"]),
        ({"terminated": np.arange(9)}, ["should say true or false", "rows 3, 4, 5 and 4 more"]),
        ({"episode": np.zeros(9, int)}, ["after rows 3 and 7 the same episode goes on", "steps should"]),
        ({"episode": pa.array([None, *[1] * 8])}, ["episode has missing values"]),
        ({"observation": list("abcdefghi")}, ["should hold numbers"]),
    ],
)
def test_what_cannot_be_learned_from_is_refused_with_its_rows(changes, sentences):
    sentence = told(changed(**changes))
    for part in sentences:
        assert part in sentence


def test_a_step_that_is_missing_matters_where_the_next_row_should_tell_what_followed():
    kept = np.arange(9) != 4
    holed = {name: values[kept] for name, values in records().items()}
    assert "steps are missing before row 5" in read_log(holed).warnings[0]
    del holed["next_observation"]
    assert "steps are missing before row 5" in told(holed)


def test_everything_that_is_wrong_is_told_at_once():
    broken = changed(
        reward=put("reward", [1], nan),
        behaviour_prob=put("behaviour_prob", [2], 2),
        action=put("action", [3], -1),
    )
    sentence = told(broken)
    assert "for 3 reasons: (1)" in sentence
    assert all(f"row {row}" in sentence for row in (2, 3, 4))


@pytest.mark.parametrize(
    ("table", "names", "sentence"),
    [
        (changed("reward", Reward=np.ones(9)), {}, "did you mean 'Reward'?"),
        (changed("action"), {}, "there is no column action; the table has episode, step,"),
        (
            changed("observation", pressure=np.ones(9)),
            {"observation": ("presure",)},
            "did you mean 'pressure'?",
        ),
        (changed("observation", observation_0=np.ones(9), observation_2=np.ones(9)), {}, "observation_1"),
        (changed("episode", "step", "terminated", "truncated"), {}, "nothing tells where an episode ends"),
        ({"action": [1]}, {}, "for 2 reasons"),
        ({name: values[:0] for name, values in records().items()}, {}, "holds no rows"),
        (changed(reward=np.ones(3)), {}, "of one length"),
        ({}, {}, "no rows"),
        (17, {}, "but int came"),
        (records(), {"rewards": "gain"}, "no part called 'rewards'"),
        (records(), {"observation": ()}, "no column is named"),
        (records(), {"actions": 0}, "at least one action"),
        (records(), {"actions": 2}, "actions from 0 to 1, but in rows 3 and 6"),
        (records(), {"actions": ("a", "a")}, "named twice"),
        (pa.table([[1], [2]], names=["action", "action"]), {}, "every column once"),
        (
            changed("next_observation", "step", "truncated", episode=range(9), terminated=np.zeros(9)),
            {},
            "nothing is left",
        ),
    ],
)
def test_what_is_no_log_gets_a_plain_sentence(table, names, sentence):
    assert sentence in told(table, **names)


def test_features_that_tell_nothing_are_told():
    observation = np.repeat(records()["observation"][:, :1], 3, axis=1)
    observation[:, 1] = 7
    log = read_log(changed("next_observation", observation=observation))
    assert "observation_1 never changes" in log.warnings[1]
    assert "observation_2 (of observation_0)" in log.warnings[2]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reward": np.zeros(9)}, "every reward is 0"),
        ({"reward": np.ones(9)}, None),
        ({"reward": np.ones(9), "terminated": np.zeros(9, bool)}, "every reward is 1 and no episode"),
        ({"action": np.ones(9, int)}, "the same action"),
    ],
)
def test_a_log_that_teaches_nothing_is_told_and_can_be_refused(changes, reason):
    from offnac.logs import require_learnable

    log = read_log(changed(**changes))
    if reason is None:
        require_learnable(log)
        assert log.warnings == ()
        return
    assert any(reason in warning for warning in log.warnings)
    with pytest.raises(UserError, match=reason):
        require_learnable(log)


def test_files_that_are_no_logs_get_a_plain_sentence(tmp_path):
    good = tmp_path / "good.parquet"
    write_log(read_log(records()), good)
    content = good.read_bytes()
    cases = {
        "empty.parquet": (b"", "it is empty"),
        "text.parquet": (b"hello", "should be Parquet"),
        "cut.parquet": (content[: len(content) // 2], "damaged or cut short"),
        "torn.parquet": (content[:60] + bytes(40) + content[100:], "cannot be read as Parquet"),
        "noise.csv": (bytes(range(256)), "neither"),
        "latin.csv": ("äpfel,öl\n1,2\n".encode("latin-1"), "cannot be read as CSV"),
        "uneven.csv": (b"a,b\n1,2\n3\n", "cannot be read as CSV"),
        "header.csv": (b"episode,action,reward,observation,terminated\n", "holds no rows"),
        "data.hdf5": (b"\x89HDF\r\n\x1a\n", "folder of the Minari dataset"),
    }
    for name, (written, sentence) in cases.items():
        (tmp_path / name).write_bytes(written)
        refused = told(tmp_path / name)
        assert sentence in refused and name in refused, refused
    assert "there is nothing" in told(tmp_path / "nowhere.parquet")
    assert "folder without one" in told(tmp_path)


def test_csv_as_people_write_it(tmp_path):
    path = tmp_path / "records.csv"
    rows = ["patient;age;bp;dose;gain;end"] + [
        f"p{i // 3};{20 + i};{120.5 + i % 4};{['low', 'high'][i % 2]};{i * i};{int(i % 3 == 2)}"
        for i in range(9)
    ]
    path.write_bytes(("\ufeff" + "\r\n".join(rows)).encode())
    names = {"observation": ("age", "bp"), "action": "dose", "reward": "gain", "episode": "patient"}
    names["terminated"] = "end"
    log = read_log(path, **names)
    assert (len(log), log.episodes, log.spec.name) == (9, 3, "records")
    assert log.action_names == ("high", "low")
    assert_array_equal(log.rows.reward, np.arange(9) ** 2)
    path.write_text("\n".join(rows).replace("121.5", "high"))
    assert re.search(r"bp .* text such as 'high' in rows 2 and 6", told(path, **names))
    for missing in ("n/a", ""):
        path.write_text("\n".join(rows).replace("121.5", missing))
        assert re.search(r"bp .*missing.* in rows 2 and 6", told(path, **names))


def test_minari_datasets_of_others(tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    from gymnasium.spaces import Box, Discrete
    from minari.data_collector import EpisodeBuffer

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    buffers = [
        EpisodeBuffer(
            observations=np.array([0, 1, 2]),
            actions=np.array([5, 6]),
            rewards=[0.0, 1.0],
            terminations=[False, True],
            truncations=[False, False],
        )
    ] * 2
    spaces = {"observation_space": Discrete(3), "action_space": Discrete(2, start=5)}
    minari.create_dataset_from_buffers("other/task-v0", buffers, **spaces)
    log = read_log("minari:other/task-v0")
    assert log.behaviour is None
    assert_array_equal(log.rows.action, [0, 1, 0, 1])
    assert_array_equal(log.rows.observation[:2], np.eye(3)[:2])
    assert_array_equal(log.rows.next_observation[:2], np.eye(3)[1:])
    assert_same(read_log(tmp_path / "other" / "task-v0"), log)
    assert "minari download some/other-v3" in told("minari:some/other-v3")
    assert "called such as" in told("minari:-x!")
    assert "called such as" in told("minari:some/task")
    # Ours are theirs.
    write_log(read_log(records()), "minari:ours-v0")
    assert [len(episode) for episode in minari.load_dataset("ours-v0")] == [3, 4, 2]
    buffers = [
        EpisodeBuffer(
            observations=np.zeros((2, 1), np.float32),
            actions=np.zeros((1, 1), np.float32),
            rewards=[0.0],
            terminations=[True],
            truncations=[False],
        )
    ]
    box = Box(-1, 1, (1,), np.float32)
    minari.create_dataset_from_buffers("c-v0", buffers, observation_space=box, action_space=box)
    assert "only discrete actions" in told("minari:c-v0")
    (tmp_path / "ours-v0" / "data" / "main_data.hdf5").write_bytes(b"nothing")
    assert "cannot be read as a Minari dataset" in told("minari:ours-v0")


def test_without_the_extra_minari_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    assert "pip install 'offnac[minari]'" in told("minari:some-v0")
