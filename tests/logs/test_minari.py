"""A dataset that Minari recorded, from the command line."""

import json

import gymnasium
import pytest

from offnac import cli, read_log


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_recorded_dataset_is_a_log(tmp_path, monkeypatch, capsys):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "store"))
    environment = minari.DataCollector(gymnasium.make("FrozenLake-v1", is_slippery=False))
    environment.action_space.seed(0)
    for episode in range(5):
        environment.reset(seed=episode)
        while not any(environment.step(environment.action_space.sample())[2:4]):
            pass
    environment.create_dataset("lake/random-v0")
    environment.close()
    assert cli.main(["convert", "minari:lake/random-v0", str(tmp_path / "lake.parquet"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["episodes"], result["observation_size"], result["actions"]) == (5, 16, 4)
    log = read_log(tmp_path / "lake.parquet")
    assert log.spec.name == "FrozenLake-v1"
    assert (log.rows.observation.sum(axis=1) == 1).all()
    assert log.rows.terminated[log.starts[1:] - 1].all()
