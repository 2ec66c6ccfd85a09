"""Settings by name: what train takes from a file, and what it says of a wrong one."""

import json

import pytest

from offnac import api, cli, learning, presets
from offnac.errors import UserError
from offnac.presets.from_log import LogRow
from offnac.settings_file import read_settings, write_settings
from offnac.transition import Spec

CARTPOLE = Spec("CartPole-v1", 4, 2)


def robust(**settings):
    return presets.experiment("robust", "offnac", CARTPOLE, settings=settings)


def test_settings_replace_those_of_the_task():
    plain, other = robust(), robust(kl=1, actor=[8, 8], updates=3, episodes=7, mean=[0] * 4, entropy=None)
    assert other.algorithm.step.kl.rate == 1.0 and isinstance(other.algorithm.step.kl.rate, float)
    assert other.algorithm.policy.network.hidden == (8, 8)
    assert (other.protocol.replay.updates, other.episodes) == (3, 7)
    assert other.protocol.scale == plain.protocol.scale
    both = presets.experiment("robust", "offnac", CARTPOLE, settings={"actor_rate": 1.0}, actor_rate=0.5)
    assert both.algorithm.step.rate.rate == 0.5


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"klx": 1.0}, "there is no setting 'klx'; did you mean 'kl'?"),
        ({"kl": -1.0}, "kl should be a number ≥ 0, but it is -1.0"),
        ({"kl": "much"}, "kl should be a number ≥ 0, but it is 'much'"),
        ({"memory": 1.5}, r"memory should be a number in \[0, 1\], but it is 1.5"),
        ({"updates": 0}, "updates should be a whole number ≥ 1, but it is 0"),
        ({"updates": True}, "updates should be a whole number"),
        ({"updates": 1.5}, "updates should be a whole number"),
        ({"actor": [16.5]}, "actor should be a list, each of them a whole number"),
        ({"critic_ratio": 1}, "critic_ratio should be true or false"),
        ({"scale": [1, 1, 0, 1]}, "scale should be a list, each of them a number > 0 or null"),
        ({"mean": [0.0, 0.0]}, "mean should have a number for each of the 4"),
        ({"mean": None}, "mean and scale go together"),
        ({"minibatches": 7}, "minibatches should divide batch"),
    ],
)
def test_what_cannot_be_is_refused(settings, said):
    with pytest.raises(UserError, match=said):
        robust(**settings)


def test_a_file_holds_names_and_values_or_what_tune_wrote(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"kl": 0.1}')
    assert read_settings(path, "train") == {"kl": 0.1}
    write_settings(path, "learn", {"kl": 0.2}, {})
    assert read_settings(path, "learn") == {"kl": 0.2}
    with pytest.raises(UserError, match="settings for offnac train, but they are for offnac learn"):
        read_settings(path, "train")
    path.write_text("[1]")
    with pytest.raises(UserError, match="by name"):
        read_settings(path, "train")


def test_train_takes_a_file(tmp_path, capsys):
    path, out = tmp_path / "settings.json", tmp_path / "run"
    small = {"batch": 64, "minibatches": 2, "capacity": 256, "actor": [4], "value": [8]}
    path.write_text(json.dumps(small))
    arguments = ["train", "tabular-chain", "--algorithm", "nac", "--settings", str(path), "--out", str(out)]
    quick = ["--episodes", "3", "--test-episodes", "4"]
    assert cli.main([*arguments, *quick]) == 2
    assert "choose --preset robust, or leave out --settings" in capsys.readouterr().err
    assert cli.main([*arguments, *quick, "--preset", "robust", "--json"]) == 0
    record = json.loads((out / "run.json").read_text())
    assert record["request"]["settings"] == small
    assert record["settings"]["protocol"]["replay"]["batch"] == 64
    same = {name: tuple(value) if isinstance(value, list) else value for name, value in small.items()}
    options = {"preset": "robust", "episodes": 3, "test_episodes": 4, "out": out, "resume": True}
    api.train("tabular-chain", "nac", settings=same, **options)
    with pytest.raises(UserError, match="was begun with settings = "):
        api.train("tabular-chain", "nac", settings=same | {"kl": 0.1}, **options)


def test_learn_takes_settings_of_its_own(tmp_path, monkeypatch):
    class Built(Exception):
        pass

    def from_log(*arguments, row, **options):
        raise Built(row)

    monkeypatch.setattr(learning, "from_log", from_log)
    api.collect("tabular-chain", steps=300, out=tmp_path / "log.parquet")
    with pytest.raises(Built) as built:
        learning.learn(tmp_path / "log.parquet", out=tmp_path / "run", settings={"kl": 0.5, "actor": [8]})
    assert built.value.args[0] == LogRow(kl=0.5, actor=(8,))
    with pytest.raises(UserError, match="no setting 'klx'"):
        learning.learn(tmp_path / "log.parquet", out=tmp_path / "run", settings={"klx": 0.5})
