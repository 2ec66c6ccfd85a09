"""Several processes, one seed each at a time, and none idle long before the others."""

from contextlib import ExitStack
from threading import Event

import numpy as np
import pytest

from offnac import files
from offnac.claims import claim
from offnac.errors import Stopped
from offnac.training import checkpoint
from offnac.training.seed_folder import SeedFolder
from offnac.training.shared import train_shared

EPISODES, AT_ONCE = 40, 10


def save(folder: SeedFolder, episodes: int) -> None:
    records = {name: np.zeros(episodes) for name in checkpoint.no_records()}
    checkpoint.save(folder.path / "checkpoint.safetensors", {}, records)


def trained(out, seeds, processes, claimed=()):
    """Which seed was trained, chunk for chunk, by a process beside others that never leave theirs."""
    chunks, stop = [], Event()

    def train(seed, gives_way):
        folder = SeedFolder(out, seed)
        for done in range(folder.episodes() + AT_ONCE, EPISODES + 1, AT_ONCE):
            chunks.append(seed)
            save(folder, done)
            if done < EPISODES and gives_way(done):
                return
        files.write_json(folder.path / "result.json", {})
        if all(SeedFolder(out, seed).is_finished() for seed in {*seeds} - {*claimed}):
            stop.set()

    with ExitStack() as held:
        for seed in claimed:
            held.enter_context(claim(SeedFolder(out, seed).path))
        if claimed:
            with pytest.raises(Stopped):
                train_shared(train, seeds, out, EPISODES, processes, stop)
        else:
            train_shared(train, seeds, out, EPISODES, processes, stop)
    return chunks


def test_one_after_the_other_while_there_is_a_seed_for_every_process(tmp_path):
    assert trained(tmp_path, [0, 1, 2, 3], processes=2, claimed=[0])[:4] == [1, 1, 1, 1]


def test_the_last_ones_in_turn(tmp_path):
    assert trained(tmp_path, [0, 1, 2], processes=2, claimed=[1]) == [0, 2, 2, 0, 0, 2, 2, 0]


def test_what_others_have_is_nothing_to_give_way_to(tmp_path):
    assert trained(tmp_path, [0, 1], processes=2, claimed=[1]) == [0, 0, 0, 0]


def test_a_process_alone_takes_no_turns(tmp_path):
    assert trained(tmp_path, [0, 1], processes=1) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_what_is_further_behind_goes_first(tmp_path):
    save(SeedFolder(tmp_path, 0), 20)
    assert trained(tmp_path, [0, 1], processes=1) == [1, 1, 1, 1, 0, 0]
