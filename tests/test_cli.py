"""The command line as a user meets it."""

import errno
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from offnac import api, cli, console, files
from offnac.api import RUN
from offnac.saved_policy import load_policy
from offnac.training.progress import Update

COMMANDS = ("collect", "train", "evaluate")
QUICK = ["--episodes", "6", "--test-episodes", "10"]
RUN_KEYS = {"seed", "train_steps", "best_average", "best_episode", "final_average", "test"}


def offnac(*arguments, **options):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "offnac", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def call(capsys, *arguments):
    """The command in this process: status, standard output, standard error."""
    status = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def one_object(out):
    """The only thing on standard output."""
    assert out.count("\n") == 1
    return json.loads(out)


def test_collect_train_and_evaluate_as_a_user_would(tmp_path, capsys):
    run, log = tmp_path / "runs" / "chain", tmp_path / "logs" / "chain.parquet"
    trained = offnac("train", "tabular-chain", "--algorithm", "ac", *QUICK, "--seeds", 2, "--out", run)
    assert (trained.returncode, trained.stderr) == (0, "")
    assert "ac on tabular-chain, preset published" in trained.stdout
    assert "best checkpoint: " in trained.stdout
    assert "interquartile mean" not in trained.stdout, "two seeds make no interval"
    best = run / "seed-1" / "best"
    arguments = ("collect", "tabular-chain", "--steps", 50, "--out", log, "--behaviour", f"{best}:0.5")
    status, printed, errors = call(capsys, *arguments)
    assert (status, errors) == (0, "")
    assert "50 rows" in " ".join(printed.split())
    assert pq.read_metadata(log).num_rows == 50
    arguments = ("evaluate", best, "tabular-chain", "--episodes", 10, "--first-seed", 1, "--json")
    evaluated = offnac(*arguments)
    assert (evaluated.returncode, evaluated.stderr) == (0, "")
    # The same seed draws the same episodes as the test after training.
    test = json.loads((run / RUN).read_text())["result"]["runs"][1]["test"]
    assert one_object(evaluated.stdout).items() >= test.items()
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pickle", ".partial")]


def test_train_prints_one_object(tmp_path, capsys):
    out = tmp_path / "run"
    arguments = ("tabular-chain", "--algorithm", "ac", *QUICK, "--seeds", 2, "--first-seed", 7, "--out", out)
    status, printed, errors = call(capsys, "train", *arguments, "--json")
    assert (status, errors) == (0, "")
    result = one_object(printed)
    assert result["algorithm"] == "ac"
    assert result["environment"] == "tabular-chain"
    assert result["preset"] == "published"
    assert result["seconds"] > 0
    assert [run["seed"] for run in result["runs"]] == [7, 8]
    assert result["train_steps"] == sum(run["train_steps"] for run in result["runs"])
    for run in result["runs"]:
        assert set(run) >= RUN_KEYS
        assert set(run["test"]) == {"mean", "sd", "se", "episodes"}
        assert run["test"]["episodes"] == 10
        assert 0 <= run["best_episode"] < 6
        assert run["best_average"] >= run["final_average"]
        folder = out / f"seed-{run['seed']}"
        assert json.loads((folder / "result.json").read_text()) == run
        for name in ("best", "final"):
            assert load_policy(folder / name).spec.name == "tabular-chain"
    assert json.loads((out / RUN).read_text())["result"] == result


def test_evaluate_prints_one_object(chain_policy, tmp_path, capsys):
    chain_policy.save(tmp_path / "policy")
    arguments = ("evaluate", tmp_path / "policy", "tabular-chain", "--episodes", 20)
    status, printed, errors = call(capsys, *arguments, "--json")
    assert (status, errors) == (0, "")
    result = one_object(printed)
    assert set(result) >= {"mean", "sd", "se", "episodes", "quantiles"}
    assert result["episodes"] == 20
    assert result["quantiles"]["0"] <= result["mean"] <= result["quantiles"]["1"]
    status, printed, errors = call(capsys, *arguments)
    assert (status, errors) == (0, "")
    assert f"{result['mean']:.2f}" in printed


def test_evaluate_keeps_the_time_limit_of_training(cartpole_policy, capsys, tmp_path):
    def limit(request, *options):
        replace(cartpole_policy, provenance={"request": request}).save(tmp_path / "policy")
        arguments = ("evaluate", tmp_path / "policy", "CartPole-v1", "--episodes", 2, *options)
        assert call(capsys, *arguments)[0] == 0
        return one_object(call(capsys, *arguments, "--json")[1])["max_steps"]

    assert limit({"environment": "CartPole-v1", "max_steps": 7}) == 7
    assert limit({"environment": "CartPole-v1", "max_steps": 7}, "--max-steps", 9) == 9
    assert limit({"environment": "CartPole-v1", "max_steps": None}) == 500
    assert limit({"environment": "Acrobot-v1", "max_steps": 7}) == 500
    assert limit(None) == 500
    paper = replace(cartpole_policy, provenance={"request": {"environment": "MountainCar-v0"}})
    assert api.time_limit(paper, "MountainCar-v0") == 10_000


@pytest.mark.parametrize("seeds", [1, 2, 8])
def test_tables_fit_80_columns(seeds, capsys, monkeypatch):
    monkeypatch.setattr(console.screen, "OUT", Console(width=80))
    test = {"mean": -10_000.25, "sd": 1234.5, "se": 1234.5, "episodes": 1000}
    quantiles = dict.fromkeys(("0", "0.25", "0.5", "0.75", "1"), -10_000.0)
    console.show_evaluation({**test, "quantiles": quantiles, "max_steps": 10_000})
    run = {"train_steps": 10_000_000, "best_average": -9999.5, "best_episode": 999}
    runs = [{"seed": 1000 + i, **run, "test": test, "final_test": test} for i in range(seeds)]
    result = {"algorithm": "nac", "environment": "MountainCar-v0", "preset": "published", "runs": runs}
    console.show_training(result, Path("out"))
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "-10000.25 ± 1234.50" in printed
    assert "10,000 steps" in printed
    assert printed.count("-10000 ± 1234") == 2 * seeds
    assert all(len(line.rstrip()) <= 80 for line in printed.splitlines())
    assert ("interquartile mean" in printed) == (seeds > 2)


def test_a_seed_that_diverged_is_named(capsys):
    test = {"mean": 9.4, "sd": 1.0, "se": 0.4, "episodes": 5}
    run = {"train_steps": 50, "best_average": 12.0, "best_episode": 0, "test": test, "final_test": test}
    runs = [{"seed": seed, "diverged": seed == 4, **run} for seed in (3, 4)]
    result = {"algorithm": "nac", "environment": "CartPole-v1", "preset": "paper", "runs": runs}
    console.show_training(result, Path("out"))
    assert "training diverged for seed 4: " in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 120])
def test_progress_shows_rate_and_time_left(width, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console.screen, "ERR", Console(stderr=True, force_terminal=True, width=width))
    with console.training(16, quiet=False) as (report, _):
        report(Update(0, 10, 1000, 0, -200.0))
        time.sleep(0.01)
        report(Update(0, 900, 1000, 2000, -200.0))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert re.search(r"900/16000 episodes, [\d,]+ steps/s", shown)
    assert re.search(r"\d:\d\d left", shown)
    assert ("average return -200.0" in shown) == (width == 120)


def test_collect_prints_one_object(tmp_path, capsys):
    log = tmp_path / "log.parquet"
    status, printed, errors = call(capsys, "collect", "tabular-chain", "--steps", 9, "--out", log, "--json")
    assert (status, errors) == (0, "")
    result = one_object(printed)
    assert result["log"] == str(log)
    assert (result["rows"], result["behaviour"]) == (9, "uniform")
    assert pq.read_metadata(log).num_rows == 9


def test_progress_is_never_on_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console.screen, "ERR", Console(stderr=True, force_terminal=True, width=200))
    arguments = ("train", "tabular-chain", "--algorithm", "ac", *QUICK, "--json")
    status, printed, errors = call(capsys, *arguments, "--out", tmp_path / "run")
    assert status == 0
    one_object(printed)
    assert "training" in errors
    assert " left" in errors
    status, printed, errors = call(capsys, *arguments, "--quiet", "--out", tmp_path / "quiet")
    assert (status, errors) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert f"Example:\n  offnac {command} " in text
    for option in ("--json", "--first-seed", "--max-steps"):
        assert option in text


def test_the_bare_command_lists_the_commands():
    shown = offnac()
    assert (shown.returncode, shown.stderr) == (0, "")
    assert all(command in shown.stdout for command in COMMANDS)
    assert "Example: offnac " in shown.stdout


def test_version_is_one_line():
    shown = offnac("--version")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert len(shown.stdout.splitlines()) == 1
    assert shown.stdout.strip()


TRAIN = ["train", "CartPole-v1", "--out", "OUT"]
COLLECT = ["collect", "CartPole-v1", "--steps", "5", "--out", "OUT"]
EVALUATE = ["evaluate", "POLICY", "CartPole-v1", "--episodes", "3"]

BAD = {
    "unknown environment": (["train", "CartPol-v1", "--out", "OUT"], "did you mean 'CartPole-v1'"),
    "older environment": (["collect", "LunarLander-v2", "--steps", "5", "--out", "OUT"], "LunarLander-v3"),
    "nonsense environment": (["evaluate", "POLICY", "qwertz"], "there is no environment 'qwertz'"),
    "environment of a module that is not there": (["train", "nomodule:X-v0", "--out", "OUT"], "nomodule"),
    "unknown preset": ([*TRAIN, "--preset", "publishd"], "did you mean 'published'?"),
    "unknown algorithm": ([*TRAIN, "--algorithm", "offnc"], "did you mean 'offnac'?"),
    "continuous actions": (["train", "Pendulum-v1", "--out", "OUT"], "only discrete actions are supported"),
    "continuous actions in Gymnasium": (
        ["collect", "BipedalWalker-v3", "--steps", "5", "--out", "OUT"],
        "only discrete actions are supported",
    ),
    "observations of several parts": (["train", "Blackjack-v1", "--out", "OUT"], "Box and Discrete"),
    "λ above 1": ([*TRAIN, "--lam", "1.5"], "λ must lie in [0, 1], but it is 1.5"),
    "λ below 0": ([*TRAIN, "--lam", "-0.1"], "λ must lie in [0, 1], but it is -0.1"),
    "λ not a number": ([*TRAIN, "--lam", "nan"], "λ must lie in [0, 1]"),
    "γ = 0": ([*TRAIN, "--gamma", "0"], "γ must lie in (0, 1), but it is 0.0"),
    "γ = 1": ([*TRAIN, "--gamma", "1"], "γ must lie in (0, 1), but it is 1.0"),
    "negative rate": ([*TRAIN, "--actor-rate", "-1"], "a rate must be positive"),
    "rate of 0": ([*TRAIN, "--value-rate", "0"], "a rate must be positive"),
    "rate not a number": ([*TRAIN, "--x-rate", "nan"], "a rate must be positive"),
    "infinite rate": ([*TRAIN, "--ratio-rate", "inf"], "a rate must be positive"),
    "newest above 1": ([*TRAIN, "--newest", "1.1"], "running average must lie in (0, 1]"),
    "one timescale": ([*TRAIN, "--preset", "theory", "--actor-power", "0.6"], "the larger power"),
    "powers without theory": ([*TRAIN, "--critic-power", "nan"], "only the theory preset has powers"),
    "no seeds": ([*TRAIN, "--seeds", "0"], "at least one seed is needed"),
    "negative seed": ([*TRAIN, "--first-seed", "-1"], "seeds are whole numbers from 0"),
    "negative seed of a log": ([*COLLECT, "--first-seed", "-1"], "seeds are whole numbers from 0"),
    "negative seed of a test": ([*EVALUATE, "--first-seed", "-1"], "seeds are whole numbers from 0"),
    "seed too large": ([*TRAIN, "--first-seed", "2147483648"], "seeds are whole numbers from 0"),
    "no steps": (["collect", "CartPole-v1", "--steps", "0", "--out", "OUT"], "at least one step"),
    "time limit of 0": ([*TRAIN, "--max-steps", "0"], "max_steps must be at least 1"),
    "time limit of a log below 0": ([*COLLECT, "--max-steps", "-3"], "max_steps must be at least 1"),
    "time limit too large": ([*COLLECT, "--max-steps", "99999999999"], "max_steps must be at least 1"),
    "no training episodes": ([*TRAIN, "--episodes", "0"], "at least one training episode"),
    "too many training episodes": ([*TRAIN, "--episodes", "2147483648"], "--episodes must be below"),
    "no test episodes": ([*TRAIN, "--test-episodes", "0"], "at least one test episode"),
    "no episodes": (["evaluate", "POLICY", "CartPole-v1", "--episodes", "0"], "at least one episode"),
    "no workers": ([*TRAIN, "--workers", "0"], "at least one core"),
    "out folder exists": (["train", "CartPole-v1", "--out", "FOLDER"], "exists already"),
    "out log exists": (["collect", "CartPole-v1", "--steps", "5", "--out", "FILE"], "exists already"),
    "out inside a file": (["collect", "CartPole-v1", "--steps", "5", "--out", "FILE/log"], "check the path"),
    "run inside a file": (["train", "CartPole-v1", "--out", "FILE/run"], "check the path"),
    "resume what is no run": (["train", "CartPole-v1", "--out", "POLICY", "--resume"], "exists already"),
    "resume a broken run": (["train", "CartPole-v1", "--out", "BROKEN", "--resume"], "should be JSON"),
    "policy that is not there": (["evaluate", "nowhere", "CartPole-v1"], "nowhere is not one"),
    "policy that is a file": (["evaluate", "FILE", "CartPole-v1"], "is not one"),
    "broken policy": (["evaluate", "BROKEN", "CartPole-v1"], "may be damaged"),
    "empty policy folder": (["evaluate", "FOLDER", "CartPole-v1"], "policy.json is not there"),
    "policy of another task": (["evaluate", "POLICY", "Acrobot-v1"], "made for CartPole-v1"),
    "behaviour of another task": (
        ["collect", "Acrobot-v1", "--steps", "5", "--out", "OUT", "--behaviour", "POLICY"],
        "made for CartPole-v1",
    ),
    "unknown behaviour": ([*COLLECT, "--behaviour", "random"], "random is not one"),
    "misspelt behaviour": ([*COLLECT, "--behaviour", "unifrom"], "did you mean 'uniform'?"),
    "share above 1": ([*COLLECT, "--behaviour", "POLICY:1.5"], "must lie in [0, 1], but it is 1.5"),
    "share not a number": ([*COLLECT, "--behaviour", "POLICY:nan"], "must lie in [0, 1]"),
    "run for a policy": (["evaluate", "RUNFOLDER", "CartPole-v1"], "seed-0/best"),
    "seed for a policy": (["evaluate", "RUNFOLDER/seed-0", "CartPole-v1"], "such as RUNFOLDER/seed-0/best"),
    "out is a run": (["train", "CartPole-v1", "--out", "RUNFOLDER"], "go on in it with --resume"),
    "no out": (["train", "CartPole-v1"], "required: --out"),
    "no steps given": (["collect", "CartPole-v1", "--out", "OUT"], "required: --steps"),
    "no environment": (["train", "--out", "OUT"], "required: ENV"),
    "unknown option": ([*TRAIN, "--sedes", "3"], "did you mean '--seeds'?"),
    "unknown command": (["trian", "CartPole-v1", "--out", "OUT"], "did you mean 'train'?"),
    "text for a number": ([*TRAIN, "--seeds", "three"], "a whole number is expected, but 'three' came"),
    "text for a rate": ([*TRAIN, "--actor-rate", "fast"], "a number is expected, but 'fast' came"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_plain_sentence(name, cartpole_policy, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cartpole_policy.save("POLICY")
    Path("FOLDER").mkdir()
    Path("FILE").write_text("kept")
    Path("RUNFOLDER/seed-0/best").mkdir(parents=True)
    Path("RUNFOLDER", RUN).write_text("{}")
    Path("BROKEN").mkdir()
    for broken in (RUN, "policy.json"):
        Path("BROKEN", broken).write_text("{")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    arguments, sentence = BAD[name]
    status = cli.main(arguments)

    captured = capfd.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err.startswith("offnac: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    assert not captured.err.endswith(".\n")
    assert sentence in captured.err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "no permission"),
        (errno.EROFS, "no permission"),
    ],
)
@pytest.mark.parametrize("command", ["collect", "train"])
def test_a_disk_that_refuses_gets_one_plain_sentence(
    command, number, sentence, tmp_path, capsys, monkeypatch
):
    def refuse(source, target):
        raise OSError(number, os.strerror(number), str(target))

    monkeypatch.setattr(files.os, "replace", refuse)
    options = {"collect": ["--steps", 5], "train": ["--algorithm", "ac", *QUICK]}[command]
    status, printed, errors = call(
        capsys, command, "tabular-chain", *options, "--out", tmp_path / "in" / "out"
    )
    assert (status, printed) == (2, "")
    assert errors.startswith(f"offnac: {sentence}") or f"there is {sentence}" in errors
    assert errors.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    # Once there is space the same command works.
    monkeypatch.undo()
    again = ["--resume"] if command == "train" else []
    status, _, errors = call(
        capsys, command, "tabular-chain", *options, *again, "--out", tmp_path / "in" / "out"
    )
    assert (status, errors) == (0, "")


def test_a_disk_that_fills_up_during_training_loses_nothing_but_time(tmp_path, capsys, monkeypatch):
    arguments = ("train", "tabular-chain", "--algorithm", "ac", *QUICK, "--out", tmp_path / "run", "--json")
    write_bytes = Path.write_bytes
    written = []

    def fill_up(path, content):
        written.append(path)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    status, printed, errors = call(capsys, *arguments)
    assert (status, printed) == (2, "")
    assert "the disk is full" in errors
    assert "--resume" in errors
    monkeypatch.undo()
    assert call(capsys, *arguments)[0] == 2, "without --resume nothing is overwritten"
    status, printed, errors = call(capsys, *arguments, "--resume")
    assert (status, errors) == (0, "")
    assert one_object(printed)["runs"][0]["test"]["episodes"] == 10


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_gets_one_plain_sentence(tmp_path, capsys):
    tmp_path.chmod(0o500)
    status, _, errors = call(
        capsys, "collect", "tabular-chain", "--steps", 5, "--out", tmp_path / "in" / "log"
    )
    tmp_path.chmod(0o700)
    assert status == 2
    assert "no permission" in errors
    assert errors.count("\n") == 1


def test_bad_input_in_a_process_of_its_own_has_no_traceback(tmp_path):
    refused = offnac("train", "CartPol-v1", "--out", tmp_path / "run")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("offnac: ")
    assert refused.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
