"""Many seeds in one program: the same runs as one by one, and as safe to break off."""

from threading import Event

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import api, presets
from offnac.environments import make
from offnac.training import batched, native, stream
from offnac.training.progress import Stopped
from offnac.training.protocol import one_of, start

REQUEST = {
    "environment": "tabular-chain",
    "algorithm": "offnac",
    "preset": "robust",
    "episodes": 12,
    "max_steps": 20,
    "test_episodes": 10,
    "seeds": 3,
}


@pytest.fixture
def gpu(monkeypatch):
    """As if JAX saw one: everything but the device is what a GPU gets."""
    monkeypatch.setattr(stream.jax, "default_backend", lambda: "gpu")


@pytest.mark.parametrize(
    ("preset", "algorithm"),
    [
        ("robust", "offnac"),
        ("published", "nac"),
        pytest.param("robust", "nac", marks=pytest.mark.thorough),
        pytest.param("published", "offnac", marks=pytest.mark.thorough),
    ],
)
def test_each_lane_is_the_run_of_its_seed(preset, algorithm):
    task = make("tabular-chain", max_steps=20)
    experiment = presets.experiment(preset, algorithm, task.spec)
    settings = (task, experiment.algorithm, experiment.protocol)
    runs = [start(*settings[1:], task.spec, jax.random.key(seed)) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *runs)
    # The room that a run has, so that the program is the one that runs compile anyway.
    together, records = batched.chunk(*settings, stacked, 8, batched.CAPACITY)
    for seed, run in enumerate(runs):
        alone, record = native.chunk(*settings, run, 8, batched.CAPACITY)
        lane, lane_record = one_of(together, seed), one_of(records, seed)
        assert lane_record.train_length.tolist() == record.train_length.tolist()
        np.testing.assert_allclose(lane_record.train_return, record.train_return, rtol=1e-5)
        np.testing.assert_allclose(lane.learner.theta, alone.learner.theta, atol=2e-2)
        if alone.memory is not None:
            assert int(lane.memory.written) == int(alone.memory.written)
            np.testing.assert_array_equal(lane.memory.rows.observation, alone.memory.rows.observation)


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path, gpu, same_seed):
    api.train(**REQUEST, out=tmp_path / "whole")
    stop = Event()

    def report(update):
        if update.episodes >= 3:
            stop.set()

    with pytest.raises(Stopped):
        api.train(**REQUEST, out=tmp_path / "broken", report=report, stop=stop)
    api.train(**REQUEST, out=tmp_path / "broken", resume=True)
    for seed in range(REQUEST["seeds"]):
        same_seed(tmp_path / "whole" / f"seed-{seed}", tmp_path / "broken" / f"seed-{seed}")


def test_seeds_may_be_added(tmp_path, gpu):
    api.train(**REQUEST, out=tmp_path / "run")
    result = api.train(**REQUEST | {"seeds": 6}, out=tmp_path / "run", resume=True)  # as many again
    assert [run["seed"] for run in result["runs"]] == [0, 1, 2, 3, 4, 5]
