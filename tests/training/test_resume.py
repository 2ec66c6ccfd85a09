"""A run that was stopped or killed and resumed is, bit for bit, the run that was never interrupted."""

import json
import signal
import subprocess
import sys
import time
from threading import Event

import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

from offnac import api, cli
from offnac.errors import UserError
from offnac.training import lockstep, stream
from offnac.training import native as native_program
from offnac.training.progress import Stopped

EPISODES = 10
NATIVE = {
    "environment": "tabular-chain",
    "algorithm": "offnac",
    "episodes": EPISODES,
    "max_steps": 30,
    "test_episodes": 10,
    "workers": 1,
    "seeds": 2,
}
# A rollout of FrozenLake often ends before the ratio's 20 steps.
LOCKSTEP = NATIVE | {"environment": "FrozenLake-v1"}


class Interrupted(Exception):
    pass


def interrupt_after(episodes):
    """A report that breaks off once a seed has had so many episodes."""

    def report(update):
        if update.episodes >= episodes:
            raise Interrupted

    return report


def stop_after(episodes, stop):
    def report(update):
        if update.episodes >= episodes:
            stop.set()

    return report


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "native"
    api.train(**NATIVE, out=out)
    return out


@pytest.fixture(scope="module")
def in_lockstep(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "lockstep"
    api.train(**LOCKSTEP, out=out)
    return out


def test_a_native_run_that_breaks_off_goes_on_as_if_nothing_had_been(
    native, tmp_path, same_seed, monkeypatch
):
    monkeypatch.setattr(stream, "CHUNK_SECONDS", 0.0)
    out = tmp_path / "run"
    for episodes in (3, 7):
        with pytest.raises(Interrupted):
            api.train(**NATIVE, out=out, report=interrupt_after(episodes), resume=True)
        assert pq.read_metadata(out / "seed-0" / "episodes.parquet").num_rows == episodes
        assert not (out / "seed-0" / "result.json").exists()
    result = api.train(**NATIVE, out=out, resume=True)
    assert result["runs"] == json.loads((native / api.RUN).read_text())["result"]["runs"]
    for seed in ("seed-0", "seed-1"):
        same_seed(native / seed, out / seed)


def test_a_native_run_that_is_asked_to_stop_saves_and_goes_on(native, tmp_path, same_seed):
    out, stop = tmp_path / "run", Event()
    with pytest.raises(Stopped):
        api.train(**NATIVE, out=out, report=stop_after(3, stop), stop=stop)
    assert pq.read_metadata(out / "seed-0" / "episodes.parquet").num_rows >= 3
    api.train(**NATIVE, out=out, resume=True)
    for seed in ("seed-0", "seed-1"):
        same_seed(native / seed, out / seed)


@pytest.mark.parametrize(("seconds", "chunks"), [(0.0, 10), (1e9, 4)])
def test_the_size_of_chunks_changes_no_native_result(
    seconds, chunks, native, tmp_path, same_seed, monkeypatch
):
    monkeypatch.setattr(stream, "CHUNK_SECONDS", seconds)
    reports = []
    api.train(**NATIVE | {"seeds": 1}, out=tmp_path / "run", report=reports.append)
    assert len(reports) == chunks
    same_seed(native / "seed-0", tmp_path / "run" / "seed-0")


def test_the_number_of_workers_changes_no_native_result(native, tmp_path, same_seed):
    api.train(**NATIVE | {"workers": 2}, out=tmp_path / "run")
    for seed in ("seed-0", "seed-1"):
        same_seed(native / seed, tmp_path / "run" / seed)


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(tmp_path, same_seed, capsys):
    """A real kill -9, as soon as there is a first checkpoint."""

    def arguments(name):
        options = ["--algorithm", "ac", "--episodes", "2000", "--test-episodes", "10", "--workers", "1"]
        return ["train", "tabular-chain", *options, "--json", "--out", str(tmp_path / name)]

    process = subprocess.Popen([sys.executable, "-m", "offnac", *arguments("killed")])
    saved = tmp_path / "killed" / "seed-0" / "checkpoint.safetensors"
    deadline = time.monotonic() + 200
    while not saved.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 0 < int(load_file(saved)["run.episode"]) < 2000
    assert not (tmp_path / "killed" / "seed-0" / "result.json").exists()

    assert cli.main([*arguments("killed"), "--resume"]) == 0
    assert cli.main(arguments("whole")) == 0
    capsys.readouterr()
    same_seed(tmp_path / "whole" / "seed-0", tmp_path / "killed" / "seed-0")


def test_a_lockstep_run_that_breaks_off_goes_on_as_if_nothing_had_been(
    in_lockstep, tmp_path, same_seed, monkeypatch
):
    monkeypatch.setattr(lockstep, "SAVE_SECONDS", 0.0)
    out = tmp_path / "run"
    for episodes in (4, 8):
        with pytest.raises(Interrupted):
            api.train(**LOCKSTEP, out=out, report=interrupt_after(episodes), resume=True)
        assert not (out / "seed-0" / "result.json").exists()
    done = [pq.read_metadata(out / f"seed-{seed}" / "episodes.parquet").num_rows for seed in (0, 1)]
    assert 0 < min(done) <= max(done) < EPISODES
    api.train(**LOCKSTEP, out=out, resume=True)
    for seed in ("seed-0", "seed-1"):
        same_seed(in_lockstep / seed, out / seed)


def test_a_lockstep_run_that_is_asked_to_stop_saves_and_goes_on(in_lockstep, tmp_path, same_seed):
    out, stop = tmp_path / "run", Event()
    with pytest.raises(Stopped):
        api.train(**LOCKSTEP, out=out, report=stop_after(5, stop), stop=stop)
    done = [pq.read_metadata(out / f"seed-{seed}" / "episodes.parquet").num_rows for seed in (0, 1)]
    assert max(done) == 5
    api.train(**LOCKSTEP, out=out, resume=True)
    for seed in ("seed-0", "seed-1"):
        same_seed(in_lockstep / seed, out / seed)


@pytest.mark.parametrize("settings", [NATIVE, LOCKSTEP], ids=["native", "lockstep"])
def test_a_finished_run_is_not_run_again(settings, request, monkeypatch):
    out = request.getfixturevalue("native" if settings is NATIVE else "in_lockstep")
    tested = (out / "seed-0" / "result.json").stat().st_mtime_ns
    monkeypatch.delattr(native_program, "chunk")
    monkeypatch.delattr(lockstep.programs, "act")
    result = api.train(**settings, out=out, resume=True)
    assert (out / "seed-0" / "result.json").stat().st_mtime_ns == tested
    assert [run["seed"] for run in result["runs"]] == [0, 1]


def test_more_seeds_train_only_the_new_ones(native, tmp_path, same_seed):
    out = tmp_path / "run"
    first = api.train(**NATIVE | {"seeds": 1}, out=out)
    before = {path: path.stat().st_mtime_ns for path in (out / "seed-0").rglob("*")}
    trained = []
    result = api.train(**NATIVE, out=out, resume=True, report=lambda update: trained.append(update))
    assert {path: path.stat().st_mtime_ns for path in (out / "seed-0").rglob("*")} == before
    assert [update.episodes for update in trained if update.seed == 0] == [EPISODES]
    assert result["runs"][0] == first["runs"][0]
    same_seed(native / "seed-1", out / "seed-1")


def test_resuming_fewer_seeds_forgets_none_and_time_adds_up(tmp_path):
    out, quick = tmp_path / "run", NATIVE | {"episodes": 2}
    first = api.train(**quick, out=out)
    again = api.train(**quick | {"seeds": 1}, out=out, resume=True)
    record = json.loads((out / api.RUN).read_text())
    assert record["seeds"] == [0, 1]
    assert [run["seed"] for run in record["result"]["runs"]] == [0]
    assert record["seconds"] == again["seconds"] > first["seconds"]


def test_the_time_of_a_stopped_run_counts(tmp_path):
    with pytest.raises(Interrupted):
        api.train(**NATIVE, out=tmp_path / "run", report=interrupt_after(1))
    spent = json.loads((tmp_path / "run" / api.RUN).read_text())["seconds"]
    assert api.train(**NATIVE, out=tmp_path / "run", resume=True)["seconds"] > spent > 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"algorithm": "offac"}, "begun with algorithm = offnac, but now it is offac"),
        ({"preset": "paper"}, "begun with preset = published, but now it is paper"),
        ({"environment": "probe-reward"}, "begun with environment = tabular-chain"),
        ({"episodes": 20}, "begun with episodes = 10, but now it is 20"),
        ({"max_steps": None}, "begun with max_steps = 30, but now it is None"),
        ({"test_episodes": 11}, "begun with test_episodes = 10, but now it is 11"),
        ({"lam": 0.5}, "begun with lam = None, but now it is 0.5"),
        ({"actor_rate": 0.1}, "begun with actor_rate = None, but now it is 0.1"),
    ],
)
def test_a_changed_option_is_refused_by_name(change, sentence, native):
    before = (native / api.RUN).read_bytes()
    with pytest.raises(UserError) as refused:
        api.train(**NATIVE | change, out=native, resume=True)
    assert sentence in str(refused.value)
    assert (native / api.RUN).read_bytes() == before


def test_a_run_is_not_overwritten_without_resume(native):
    with pytest.raises(UserError, match="exists already"):
        api.train(**NATIVE, out=native)


@pytest.mark.parametrize("damage", [b"", b"garbage"])
def test_a_damaged_checkpoint_is_refused_in_one_sentence(damage, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(Interrupted):
        api.train(**NATIVE, out=out, report=interrupt_after(1))
    (out / "seed-0" / "checkpoint.safetensors").write_bytes(damage)
    with pytest.raises(UserError, match=r"checkpoint.*does not fit this run"):
        api.train(**NATIVE, out=out, resume=True)


def test_resuming_what_never_began_begins_it(tmp_path, native, same_seed):
    api.train(**NATIVE, out=tmp_path / "run", resume=True)
    same_seed(native / "seed-0", tmp_path / "run" / "seed-0")


def test_a_changed_preset_is_noticed(tmp_path):
    api.train(**NATIVE, out=tmp_path / "run")
    record = json.loads((tmp_path / "run" / api.RUN).read_text())
    record["settings"]["algorithm"]["gamma"] = 0.5
    (tmp_path / "run" / api.RUN).write_text(json.dumps(record))
    with pytest.raises(UserError, match="other settings than this version has"):
        api.train(**NATIVE, out=tmp_path / "run", resume=True)
