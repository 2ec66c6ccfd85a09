"""Runs in TensorBoard and Weights & Biases: every row once, also of a run that was stopped and resumed."""

import struct
import sys
from threading import Event
from types import ModuleType, SimpleNamespace

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from offnac import api, cli
from offnac.errors import Stopped, UserError

EPISODES = 8
CHAIN = {"episodes": EPISODES, "test_episodes": 4, "workers": 1}


def scalars(folder):
    """What the event files in a folder hold: {name: {step: value}}, no step twice."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")
    found = {}
    for path in folder.glob("events.*"):
        data, place = path.read_bytes(), 0
        while place < len(data):
            (length,) = struct.unpack_from("<Q", data, place)
            event = event_pb2.Event.FromString(data[place + 12 : place + 12 + length])
            place += 12 + length + 4
            for value in event.summary.value:
                if not value.HasField("tensor"):
                    steps = found.setdefault(value.tag, {})
                    assert event.step not in steps
                    steps[event.step] = value.simple_value
    return found


def train(out, **options):
    return api.train("tabular-chain", "ac", out=out, **CHAIN, **options)


def train_in_two_goes(out, **options):
    """Stop as soon as something is saved, then resume."""
    stop = Event()
    with pytest.raises(Stopped):
        train(out, stop=stop, report=lambda update: stop.set(), **options)
    return train(out, resume=True, **options)


def test_tensorboard_has_every_episode_of_every_seed_once(tmp_path):
    pytest.importorskip("tensorboardX")
    result = train_in_two_goes(tmp_path / "run", seeds=2, track="tensorboard")
    for run in result["runs"]:
        name = f"seed-{run['seed']}"
        table = pq.read_table(tmp_path / "run" / name / "episodes.parquet")
        told = scalars(tmp_path / "run" / "tensorboard" / name)
        for column in table.column_names[1:]:
            assert list(told[column]) == list(range(EPISODES))
            assert_allclose(list(told[column].values()), table[column].to_numpy(), rtol=1e-6)
        assert told["result/test/mean"] == {EPISODES - 1: pytest.approx(run["test"]["mean"])}


@pytest.fixture
def wandb(monkeypatch):
    """In place of the package: it remembers runs by their id, as the service does."""
    module, runs = ModuleType("wandb"), {}

    class Run:
        def __init__(self, **options):
            self.options, self.rows, self.ends, self.summary = options, {}, [], {}

        @property
        def starting_step(self):
            return max(self.rows, default=-1) + 1

        def log(self, numbers, step):
            assert step not in self.rows
            self.rows[step] = numbers

        def finish(self, exit_code):
            self.ends.append(exit_code)

    def init(id, **options):
        assert options["reinit"] == "create_new" and options["resume"] == "allow"
        return runs.setdefault(id, Run(**options))

    module.init, module.Settings, module.Error, module.runs = init, SimpleNamespace, ValueError, runs
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_weights_and_biases_go_on_in_the_same_run(tmp_path, wandb):
    train_in_two_goes(tmp_path / "run", seeds=2, track="wandb")
    assert [run.options["name"] for run in wandb.runs.values()] == ["run/seed-0", "run/seed-1"]
    for run in wandb.runs.values():
        assert list(run.rows) == list(range(EPISODES))
        assert run.options["config"]["request"]["environment"] == "tabular-chain"
        assert run.ends == [1, 0]
        assert "result/test/mean" in run.summary


def test_weights_and_biases_without_a_login(tmp_path, wandb, monkeypatch):
    def init(**options):
        raise ValueError("No API key configured.\nUse wandb login.")

    monkeypatch.setattr(wandb, "init", init)
    with pytest.raises(UserError, match="wandb login, or keep everything here with WANDB_MODE=offline"):
        train(tmp_path / "run", track="wandb")


@pytest.mark.parametrize(
    ("name", "module", "said"),
    [
        ("tensorboard", "tensorboardX", "pip install 'offnac[tensorboard]'"),
        ("wandb", "wandb", "pip install 'offnac[wandb]'"),
        ("tensorbord", None, "did you mean 'tensorboard'?"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_written(
    name, module, said, tmp_path, capsys, monkeypatch
):
    if module:
        monkeypatch.setitem(sys.modules, module, None)
    arguments = ["train", "tabular-chain", "--out", str(tmp_path / "run"), "--track", name]
    assert cli.main(arguments) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_all_seeds_in_one_csv(tmp_path):
    train(tmp_path / "run", seeds=2, first_seed=3)
    rows = pyarrow.csv.read_csv(tmp_path / "run" / "episodes.csv")
    assert rows["seed"].to_pylist() == [3] * EPISODES + [4] * EPISODES
    parts = [pq.read_table(tmp_path / "run" / f"seed-{seed}" / "episodes.parquet") for seed in (3, 4)]
    for name in parts[0].column_names:
        assert_allclose(rows[name].to_numpy(), np.concatenate([part[name] for part in parts]), rtol=1e-6)
