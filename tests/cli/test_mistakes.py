"""What people do wrong in their first hour: one sentence says what to do, nothing is written.

``tests/test_cli.py`` has the wrong numbers and names of single options; here is a person who is in a hurry.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from offnac import cli, files

LEARN = ["learn", "log.parquet", "--out", "OUT"]
TRAIN = ["train", "CartPole-v1", "--out", "OUT"]

NAMED = ["learn", "records.csv", "--out", "OUT", "--action", "dose", "--reward", "gain"]

MISTAKES = {
    "a command misspelt": (["trian", "CartPole-v1"], "did you mean 'train'?"),
    "a command that there never was": (["fit", "log.parquet"], "choose from collect, convert, learn"),
    "an option misspelt": ([*TRAIN, "--sedes", "3"], "there is no option --sedes; did you mean '--seeds'?"),
    "an option of another command": (["doctor", "--seeds", "3"], "there is no option --seeds"),
    "one word too many": (["report", "RUN", "again"], "'again' is one argument too many"),
    "a word for a number": ([*TRAIN, "--seeds", "four"], "a whole number is expected, but 'four' came"),
    "an environment misspelt": (["train", "Cartpole-v1", "--out", "OUT"], "did you mean 'CartPole-v1'"),
    "an environment from an old tutorial": (["watch", "POLICY", "LunarLander-v2", "--out", "f.gif"], "-v3"),
    "continuous actions": (["train", "Pendulum-v1", "--out", "OUT"], "only discrete actions"),
    "a preset misspelt": ([*TRAIN, "--preset", "robsut"], "did you mean 'robust'?"),
    "an algorithm misspelt": ([*TRAIN, "--algorithm", "ofnac"], "did you mean 'offnac'?"),
    "an algorithm that a log cannot feed": ([*LEARN, "--algorithm", "nac"], "did you mean 'offnac'?"),
    "a cell misspelt": (["reproduce", "--cells", "cratpole", "--out", "OUT"], "did you mean 'cartpole'?"),
    "a log that is not there": (
        ["learn", "logs.parquet", "--out", "OUT"],
        "there is nothing; check the path",
    ),
    "a picture for a log": (["learn", "picture.png", "--out", "OUT"], "picture.png"),
    "a log that is cut short": (["learn", "cut.parquet", "--out", "OUT"], "cut.parquet"),
    "an empty log": (["learn", "empty.csv", "--out", "OUT"], "is empty; write it again"),
    "a table without the names": (["learn", "records.csv", "--out", "OUT"], "--observation names another"),
    "a column misspelt": ([*NAMED, "--observation", "age,bloodpresure"], "did you mean 'bloodpressure'?"),
    "a log that teaches nothing": (["learn", "dull.parquet", "--out", "OUT"], "there is nothing to learn"),
    "a log for a policy": (["evaluate", "log.parquet", "CartPole-v1"], "a policy is a folder"),
    "a policy for a log": (["learn", "POLICY", "--out", "OUT"], "POLICY"),
    "policy and log the wrong way round": (["ope", "log.parquet", "POLICY"], "a policy is a folder"),
    "a policy of another task": (["watch", "POLICY", "Acrobot-v1", "--out", "f.gif"], "made for CartPole-v1"),
    "a policy of another log": (["audit", "log.parquet", "POLICY"], "made for CartPole-v1"),
    "a run for a policy": (["evaluate", "RUN", "CartPole-v1"], "give one of the policies in it"),
    "a run that was interrupted": (["train", "CartPole-v1", "--out", "RUN"], "go on in it with --resume"),
    "an interrupted run gone on with otherwise": (
        ["train", "CartPole-v1", "--algorithm", "nac", "--out", "RUN", "--resume"],
        "resume with the same options",
    ),
    "a film of a run without a result": (["watch", "RUN", "--out", "f.gif"], "no seed in RUN has finished"),
    "a film of another kind": (["watch", "POLICY", "--out", "film.avi"], "a .gif or an .mp4"),
    "a film without its extra": (["watch", "POLICY", "--out", "f.mp4"], "pip install 'offnac[video]'"),
    "tracking without its extra": ([*TRAIN, "--track", "tensorboard"], "offnac[tensorboard]"),
    "export without its extra": (["export", "POLICY", "--out", "p.onnx"], "offnac[onnx]"),
    "tuning without its extra": (["tune", "CartPole-v1", "--out", "OUT"], "offnac[tune]"),
    "a Minari dataset without its extra": (["convert", "minari:D4RL/door", "o.csv"], "offnac[minari]"),
    "a page of what is no run": (["report", "POLICY"], "give the --out of one of them"),
    "a port without a server": (["report", "RUN", "--port", "80"], "give --live as well"),
    "a negative seed": ([*TRAIN, "--first-seed", "-1"], "seeds are whole numbers from 0"),
    "γ of 1": ([*TRAIN, "--gamma", "1"], "γ must lie in (0, 1)"),
    "no core": ([*LEARN, "--workers", "0"], "at least one core"),
    "a result that is there already": (["convert", "log.parquet", "records.csv"], "exists already"),
    "a folder in a file": (["train", "CartPole-v1", "--out", "records.csv/run"], "check the path"),
    "a shell that is not known": (["completion", "powershell"], "choose from bash, zsh, fish"),
}
EXTRAS = ("imageio_ffmpeg", "minari", "onnx", "optuna", "tensorboardX")


@pytest.fixture
def desk(tmp_path, monkeypatch, cartpole_policy):
    """A folder as it lies around after an hour, on a machine without any extra."""
    monkeypatch.chdir(tmp_path)
    for module in EXTRAS:
        monkeypatch.setitem(sys.modules, module, None)
    cartpole_policy.save("POLICY")
    steps = np.arange(8)
    log = {"episode": steps // 4, "step": steps % 4, "action": steps % 2, "reward": steps * 1.0}
    log |= {"observation_0": np.sin(steps), "terminated": steps % 4 == 3}
    pq.write_table(pa.table(log), "log.parquet")
    dull = {"reward": np.ones(8), "terminated": np.zeros(8, bool), "truncated": steps % 4 == 3}
    more = {"next_observation_0": np.cos(steps), "behaviour_prob": np.full(8, 0.5)}
    pq.write_table(pa.table(log | dull | more), "dull.parquet")
    Path("cut.parquet").write_bytes(Path("log.parquet").read_bytes()[:300])
    Path("empty.csv").touch()
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    records = {"age": steps, "bloodpressure": steps, "dose": steps % 2, "gain": steps * 1.0}
    pyarrow.csv.write_csv(pa.table(records), "records.csv")
    request = {"environment": "CartPole-v1", "algorithm": "offnac", "preset": "published"}
    request |= {"max_steps": None, "test_episodes": 1000}
    files.write_json(Path("RUN/run.json"), {"format": "offnac-run", "request": request, "seeds": [0]})
    return tmp_path


def everything(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_there_are_more_than_twenty():
    assert len(MISTAKES) > 20


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_what_to_do(mistake, desk, capfd):
    arguments, sentence = MISTAKES[mistake]
    before = everything(desk)
    status = cli.main(arguments)
    answer = capfd.readouterr()
    assert (status, answer.out) == (2, "")
    assert answer.err.startswith("offnac: ") and answer.err.count("\n") == 1, "one sentence, no traceback"
    assert sentence in answer.err
    assert everything(desk) == before, "nothing is written"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(desk, capfd):
    Path("closed").mkdir(mode=0o500)
    assert cli.main(["watch", "POLICY", "--max-steps", "3", "--out", "closed/film.gif"]) == 2
    answer = capfd.readouterr().err
    assert "there is no permission" in answer and answer.count("\n") == 1


def test_no_display_is_needed(desk, monkeypatch, capfd):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert cli.main(["watch", "POLICY", "--max-steps", "3", "--out", "film.gif"]) == 0
    assert Path("film.gif").stat().st_size > 1000
    assert "an episode of CartPole-v1" in capfd.readouterr().out
