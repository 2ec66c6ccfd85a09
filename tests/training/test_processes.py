"""Seeds of a JAX-native task in processes: the same seeds, each of them once."""

import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from itertools import groupby
from threading import Event

import pytest

from offnac import api, files, worker
from offnac.claims import claim
from offnac.request import prepare
from offnac.training.seed_folder import SeedFolder
from offnac.training.stream import share_seeds, train_seeds

TASK = {"environment": "tabular-chain", "algorithm": "offnac", "episodes": 6, "test_episodes": 5}


def test_a_seed_that_another_process_has_is_left_to_it_unless_it_leaves_it(tmp_path, monkeypatch):
    monkeypatch.setattr(worker.processes, "asked_to_stop", Event)
    monkeypatch.setattr(worker.processes, "news", StringIO)
    monkeypatch.setattr(worker.compile_cache, "enable", lambda: None)
    request = {**TASK, "preset": "published", "max_steps": None}
    files.write_json(tmp_path / api.RUN, {"request": request, "workers": 2})
    seeds = [SeedFolder(tmp_path, seed) for seed in (0, 1)]
    with ThreadPoolExecutor() as pool:
        with claim(seeds[0].path):
            ended = pool.submit(worker.main, [str(tmp_path), "0", "1"])
            while seeds[1].result() is None and not ended.done():
                time.sleep(0.05)
            assert seeds[0].result() is None and not ended.done()
        assert ended.result() == 0
    assert all(seed.result() is not None for seed in seeds)


def test_a_seed_that_is_put_down_for_one_that_is_behind_ends_as_if_it_had_not_been(tmp_path, same_seed):
    news = []
    request = {**TASK, "preset": "published", "max_steps": None}
    task, experiment = prepare(request)
    common = {"test_episodes": 5, "report": news.append, "stop": Event(), "provenance": {"request": request}}
    share_seeds(task, experiment, [0, 1], tmp_path / "shared", processes=2, **common)
    assert len([*groupby(update.seed for update in news)]) > 2
    train_seeds(task, experiment, [0, 1], tmp_path / "alone", **common)
    for seed in ("seed-0", "seed-1"):
        same_seed(tmp_path / "shared" / seed, tmp_path / "alone" / seed)


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
