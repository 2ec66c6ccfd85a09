"""Seeds in lockstep do not know of each other.

A seed's result does not depend on who else is in its group, how many there are, or on its place in it.
"""

import errno
import os
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file

from offnac import api, files, presets, worker
from offnac.environments import HostEnvironment
from offnac.training import lockstep, stream
from offnac.training.progress import silent
from offnac.training.stream import train_seeds

TASK = {"environment": "FrozenLake-v1", "algorithm": "ac", "max_steps": 30, "test_episodes": 10}


def train(out, *seeds, episodes=8):
    """Train these seeds as one group."""
    task, experiment = api.prepare({**TASK, "preset": "published", "episodes": episodes})
    results = lockstep.train_seeds(task, experiment, seeds, out, 10, silent, Event(), {})
    assert [result["seed"] for result in results] == list(seeds)
    return results


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    out = tmp_path_factory.mktemp("group") / "0-1"
    train(out, 0, 1)
    return out


@pytest.mark.parametrize("seeds", [(1, 0), (1, 2), (5, 1)])
def test_a_seed_does_not_depend_on_its_companions_or_its_place(seeds, pair, tmp_path, same_seed):
    train(tmp_path, *seeds)
    same_seed(pair / "seed-1", tmp_path / "seed-1")


def test_seeds_differ(pair, records):
    first, second = (records(pair / f"seed-{seed}") for seed in (0, 1))
    assert not np.array_equal(first["train_length"], second["train_length"])


def test_records_agree_with_the_result(pair, records, tmp_path):
    for result in train(tmp_path, 0, 1):
        rows = records(tmp_path / f"seed-{result['seed']}")
        assert_array_equal(rows["episode"], np.arange(8))
        assert rows["train_length"].sum() == result["train_steps"]
        assert rows["average"].max() == result["best_average"]
        assert rows["average"][-1] == result["final_average"]


def test_a_seed_alone_is_itself_in_a_group(pair, tmp_path, same_seed):
    train(tmp_path, 1)
    same_seed(pair / "seed-1", tmp_path / "seed-1")


@pytest.mark.parametrize("preset", ["published", "robust"])
def test_a_seed_that_follows_mu_does_not_depend_on_its_companions(preset, tmp_path, same_seed):
    """Its rollouts of μ are played and learned from apart from the others', evaluation is in lockstep."""
    request = {**TASK, "algorithm": "offnac", "preset": preset, "episodes": 8}
    task, experiment = api.prepare(request)
    for name, seeds in (("alone", [1]), ("pair", [0, 1])):
        lockstep.train_seeds(task, experiment, seeds, tmp_path / name, 10, silent, Event(), {})
    same_seed(tmp_path / "alone" / "seed-1", tmp_path / "pair" / "seed-1")


def test_episodes_longer_than_a_block_are_learned_from_whole(tmp_path, records, monkeypatch, same_seed):
    task = HostEnvironment("CartPole-v1", max_steps=50)
    experiment = presets.experiment("published", "offnac", task.spec, episodes=5)
    for block in (4, 128):
        monkeypatch.setattr(lockstep, "BLOCK", block)
        train_seeds(task, experiment, [0], tmp_path / str(block), test_episodes=2)
    assert records(tmp_path / "4" / "seed-0")["train_length"].max() > 4
    same_seed(tmp_path / "4" / "seed-0", tmp_path / "128" / "seed-0")


def test_more_seeds_than_places_are_several_groups(tmp_path):
    train(tmp_path, *range(lockstep.WIDTH + 1), 1_000, episodes=1)
    assert len(list(tmp_path.glob("seed-*/result.json"))) == lockstep.WIDTH + 2


def test_a_process_of_its_own_changes_nothing(tmp_path, same_seed):
    """Two workers: two processes, each with a group of one seed."""
    seen = []
    result = api.train(**TASK, episodes=8, seeds=2, workers=2, out=tmp_path / "processes", report=seen.append)
    assert [run["seed"] for run in result["runs"]] == [0, 1]
    assert {(update.seed, update.episodes) for update in seen} == {
        (seed, episode) for seed in (0, 1) for episode in range(1, 9)
    }
    for seed in (0, 1):
        alone = tmp_path / f"alone-{seed}"
        api.train(**TASK, episodes=8, first_seed=seed, workers=1, out=alone)
        same_seed(alone / f"seed-{seed}", tmp_path / "processes" / f"seed-{seed}")


def test_a_process_that_cannot_write_says_why(tmp_path, capsys, monkeypatch):
    def fill_up(*arguments, **named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(stream, "train_seeds", fill_up)
    # This process is to keep its signals, and to outlive the end of its standard input.
    monkeypatch.setattr(worker.processes, "asked_to_stop", Event)
    request = {**TASK, "preset": "published", "episodes": 8}
    files.write_json(tmp_path / api.RUN, {"request": request})
    assert worker.main([str(tmp_path), "0", "1"]) == 2
    assert capsys.readouterr().err.startswith("the disk is full")


def test_on_policy_every_weight_is_exactly_1(tmp_path, watched):
    task = HostEnvironment("CartPole-v1", max_steps=50)
    experiment = presets.experiment("published", "ac", task.spec, episodes=5)
    experiment = replace(experiment, algorithm=watched(experiment.algorithm))
    train_seeds(task, experiment, [0, 1], tmp_path, test_episodes=2)
    for seed in (0, 1):
        run = load_file(tmp_path / f"seed-{seed}" / "checkpoint.safetensors")
        assert run["run.train_steps"] > 50
        assert run["run.learner.direction[1]"] == 0.0
