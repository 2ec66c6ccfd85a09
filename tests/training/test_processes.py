"""Seeds of a JAX-native task in processes: the same seeds, each of them once."""

from threading import Event

import pytest

from offnac import api, files, worker
from offnac.claims import claim
from offnac.training.seed_folder import SeedFolder

pytestmark = pytest.mark.optimised

TASK = {"environment": "tabular-chain", "algorithm": "offnac", "episodes": 6, "test_episodes": 5}


def test_a_seed_that_another_process_has_is_left_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr(worker.processes, "asked_to_stop", Event)
    request = {**TASK, "preset": "published", "max_steps": None}
    files.write_json(tmp_path / api.RUN, {"request": request})
    with claim(SeedFolder(tmp_path, 0).path):
        assert worker.main([str(tmp_path), "0", "1"]) == 0
    assert SeedFolder(tmp_path, 0).result() is None
    assert SeedFolder(tmp_path, 1).result() is not None


@pytest.mark.thorough
def test_native_seeds_that_processes_take_one_by_one_are_the_same(tmp_path, monkeypatch, same_seed):
    seen = []
    api.train(**TASK, seeds=3, workers=1, out=tmp_path / "here")
    monkeypatch.setattr(api, "LONG", 0)
    result = api.train(**TASK, seeds=3, workers=2, out=tmp_path / "there", report=seen.append)
    assert [run["seed"] for run in result["runs"]] == [0, 1, 2]
    assert {update.seed for update in seen if update.episodes == 6} == {0, 1, 2}
    for seed in range(3):
        same_seed(tmp_path / "here" / f"seed-{seed}", tmp_path / "there" / f"seed-{seed}")
