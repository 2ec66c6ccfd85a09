"""The search for settings, with runs that take no time: their worth is a formula."""

import json
import sys
from dataclasses import fields
from threading import Event

import pytest

from offnac import cli
from offnac.errors import Stopped, UserError
from offnac.presets import robust
from offnac.presets.from_log import LogRow
from offnac.report import tuning as page
from offnac.report.folder import write_report
from offnac.settings_file import read_settings
from offnac.tuning import space
from offnac.tuning.objective import InSimulator, Worth
from offnac.tuning.tune import tune

OPTIONS = {"seeds": 2, "search": ["kl", "actor", "updates"]}


@pytest.fixture
def runs(monkeypatch):
    """Runs that are worth more the nearer kl is to 0.001 and the wider the actor is; settings by folder."""
    pytest.importorskip("optuna")
    seen = {}

    def run(self, settings, out, first_seed, seeds, report, stop):
        report(0.5)
        if stop.is_set():
            raise Stopped
        seen[str(out.relative_to(out.parents[1]))] = (settings, first_seed, seeds)
        parts = [settings["actor"][0] - 1e4 * abs(settings["kl"] - 1e-3) + seed for seed in range(seeds)]
        return Worth(sum(parts) / seeds, parts)

    monkeypatch.setattr(InSimulator, "run", run)
    return seen


def searched(out, **options):
    return tune("CartPole-v1", "nac", out=out, **OPTIONS, **options)


def test_what_is_searched_are_settings_of_the_presets():
    for known, row in ((space.TRAIN, robust.RobustRow), (space.LEARN, LogRow)):
        assert set(known) <= {field.name for field in fields(row)}
    for algorithm, wanted in (("ac", set()), ("nac", {"memory"}), ("offnac", {"memory", "ratio_ridge"})):
        found = space.space(space.TRAIN, algorithm, None, robust.RobustRow())
        assert {"memory", "ratio_ridge"} & set(found) == wanted
        assert not set(space.ON_REQUEST) & set(found)
    assert set(space.space(space.LEARN, "bc", None, LogRow())) == {"imitation_rate"}


def test_a_space_holds_what_the_search_begins_with():
    row = robust.RobustRow(kl=1.0, caution=0.0, actor=(7,), memory=0.99)
    found = space.space(space.TRAIN, "nac", ["kl", "actor", "memory"], row)
    assert (found["kl"].high, found["memory"].high) == (1.0, 0.99)
    assert found["actor"].values[0] == [7]
    assert not space.Range(0.1, 1.0).holding(0.0).log


def test_the_first_trial_is_the_preset_and_the_best_is_for_train(runs, tmp_path):
    result = searched(tmp_path / "out", trials=8)
    first = robust.row("CartPole-v1", "nac")
    assert runs["trials/0"][0] == {"kl": first.kl, "actor": list(first.actor), "updates": first.updates}
    assert result["best"]["value"] > result["first"]["value"]
    assert result["best"]["settings"] == runs[f"trials/{result['best']['number']}"][0]
    assert read_settings(tmp_path / "out" / "best.json", "train") == result["best"]["settings"]
    assert {(seed, seeds) for name, (_, seed, seeds) in runs.items() if "trials" in name} == {(0, 2)}
    assert runs["check/first"] == (result["first"]["settings"], 2, 2)
    assert runs[f"check/best-{result['best']['number']}"] == (result["best"]["settings"], 2, 2)
    assert result["check"]["best"]["value"] > result["check"]["first"]["value"]
    html = (tmp_path / "out" / "report.html").read_text()
    assert html.count('<figure class="dots">') == 3
    assert "the best settings are better there too" in html
    assert 'src="http' not in html


def test_a_search_that_was_stopped_goes_on_as_it_would_have(runs, tmp_path):
    whole = searched(tmp_path / "whole", trials=12)
    settings = {name: one for name, (one, *_) in runs.items()}
    runs.clear()
    for after in (3, 7):
        stop = Event()

        def report(update, after=after, stop=stop):
            if update.done > after:
                stop.set()

        with pytest.raises(Stopped):
            searched(tmp_path / "broken", trials=12, resume=after > 3, stop=stop, report=report)
        assert f"trials/{after}" not in runs
        assert write_report(tmp_path / "broken")["kind"] == "tune"
        assert f"{after} trials of offnac train" in (tmp_path / "broken" / "report.html").read_text()
    resumed = searched(tmp_path / "broken", trials=12, resume=True)
    assert resumed["best"] == whole["best"]
    assert {name: one for name, (one, *_) in runs.items()} == settings
    more = searched(tmp_path / "broken", trials=13, resume=True)
    assert (more["trials"], resumed["trials"]) == (13, 12)


@pytest.mark.parametrize(
    ("best", "first", "said"),
    [
        ([5.0, 6.0], [1.0, 2.0], "better there too"),
        ([1.0, 2.0], [5.0, 6.0], "was luck"),
        ([1.0, 9.0], [2.0, 3.0], "do not show a difference"),
        ([9.0], [1.0], "do not show a difference"),
    ],
)
def test_the_verdict_of_fresh_seeds(best, first, said):
    assert said in page._verdict(best, first)[1]


def test_trials_may_fail_but_not_the_first(runs, tmp_path, monkeypatch):
    worth = InSimulator.run

    def run(self, settings, out, *rest):
        if out.name in failing:
            raise UserError("learning diverged")
        return worth(self, settings, out, *rest)

    monkeypatch.setattr(InSimulator, "run", run)
    failing = {"1", "2"}
    result = searched(tmp_path / "out", trials=3)
    assert (result["failed"], result["trials"], result["check"]) == (2, 3, None)
    assert "No trial was better" in (tmp_path / "out" / "report.html").read_text()
    failing = {"0"}
    with pytest.raises(UserError, match="learning diverged"):
        searched(tmp_path / "other", trials=3)


def test_the_command(runs, tmp_path, capsys):
    arguments = ["tune", "CartPole-v1", "--algorithm", "nac", "--search", "kl,actor,updates", "--trials", "3"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["trials"], result["command"]) == (3, "train")
    assert cli.main([*arguments, "--out", str(tmp_path / "out"), "--resume"]) == 0
    assert "value in the search" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["CartPole-v1", "--first-seed", "998"], "settings are chosen on seeds below 1000"),
        (["CartPole-v1", "--search", "kll"], "no setting that offnac can be tuned in; did you mean 'kl'?"),
        (["CartPole-v1", "--search", "memory", "--algorithm", "ac"], "'memory' is no setting that ac"),
        (["CartPole-v1", "--trials", "0"], "at least one trial"),
        (["CartPole-v1", "--iterations", "9"], "--iterations has no meaning for an environment"),
        (["log.parquet", "--episodes", "9"], "--episodes has no meaning for a log"),
        (["log.parquet"], "a log is expected at log.parquet"),
        (["CartPole-v1", "--algorithm", "bc"], "algorithm 'bc' is not known"),
    ],
)
def test_mistakes(options, said, tmp_path, capsys):
    pytest.importorskip("optuna")
    assert cli.main(["tune", *options, "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_the_extra_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"pip install 'offnac\[tune\]'"):
        searched(tmp_path / "out")
