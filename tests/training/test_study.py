"""Off-policy on a Gymnasium task a seed studies what it has recorded before it learns."""

from threading import Event

import numpy as np
import pytest

from offnac import api, presets
from offnac.environments import HostEnvironment
from offnac.errors import UserError
from offnac.training import lockstep
from offnac.training.from_log.units import Units
from offnac.training.progress import silent
from offnac.training.study import recorded
from offnac.transition import Spec

WARM_UP, EPISODES = 4, 7
SETTINGS = {
    "warm_up": WARM_UP,
    "imagined": 0.5,
    "model": 8,
    "model_batch": 32,
    "model_ends_by_flags": False,
    "batch": 512,
    "minibatches": 4,
    "capacity": 1 << 10,
    "ratio_rows": 64,
    "actor": [4],
    "value": [8],
    "updates": 2,
    "average": 0.9,
}


@pytest.fixture(scope="module")
def task():
    return HostEnvironment("LunarLander-v3", max_steps=60)


@pytest.fixture(scope="module")
def experiment(task):
    return presets.experiment("robust", "offnac", task.spec, episodes=EPISODES, settings=SETTINGS)


def train(task, experiment, out, *seeds, report=silent, stop=None):
    return lockstep.train_seeds(task, experiment, seeds, out, 2, report, stop or Event(), {})


@pytest.fixture(scope="module")
def whole(task, experiment, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "run"
    train(task, experiment, out, 0)
    return out / "seed-0"


def test_nothing_is_learned_before_what_is_recorded_has_been_studied(whole, records):
    entropy = records(whole)["entropy"]
    assert np.ptp(entropy[:WARM_UP]) == 0.0
    assert (entropy[WARM_UP + 1 :] < entropy[0]).all()


@pytest.mark.parametrize("episodes", [WARM_UP - 1, WARM_UP + 2])
def test_a_run_that_stops_before_or_after_its_study_is_the_same(
    episodes, task, experiment, whole, tmp_path, same_seed, monkeypatch
):
    stop, studies, study = Event(), [], lockstep.study

    def counted(*given):
        studies.append(1)
        return study(*given)

    def report(update):
        if update.episodes >= episodes:
            stop.set()

    monkeypatch.setattr(lockstep, "study", counted)
    with pytest.raises(lockstep.Stopped):
        train(task, experiment, tmp_path, 0, report=report, stop=stop)
    assert len(studies) == (episodes > WARM_UP)
    train(task, experiment, tmp_path, 0)
    assert len(studies) == 1
    same_seed(whole, tmp_path / "seed-0")


def test_a_seed_that_studies_does_not_depend_on_its_companions(task, experiment, whole, tmp_path, same_seed):
    train(task, experiment, tmp_path, 1, 0)
    same_seed(whole, tmp_path / "seed-0")


def test_a_full_memory_is_a_log_of_its_newest_rows_as_they_were_observed(experiment):
    replay, spec = experiment.protocol.replay, Spec("", 2, 3)
    memory = replay.empty(spec)
    number = np.arange(replay.capacity)
    # Episodes of five rows; the newest three rows of the last one have overwritten the oldest.
    at = np.where(number < 3, number + replay.capacity, number)
    rows = memory.rows._replace(
        observation=np.stack([at, -at], axis=1).astype(np.float32),
        next_observation=np.stack([at + 1, -at], axis=1).astype(np.float32),
        step=(at % 5).astype(np.int32),
    )
    memory = memory._replace(rows=rows, written=np.int32(replay.capacity + 3))
    units = Units(np.array([1.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32), 1.0)
    log = recorded(memory, units, spec)
    oldest = np.arange(3, replay.capacity + 3)
    np.testing.assert_array_equal(log.rows.observation, np.stack([2 * oldest + 1, -oldest], axis=1))
    np.testing.assert_array_equal(np.flatnonzero(np.diff(log.episode)) + 1, np.flatnonzero(oldest % 5 == 0))
    assert log.episode[0] == 0


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"environment": "CartPole-v1", "algorithm": "offnac"}, "the setting imagined is for tasks that"),
        ({"environment": "LunarLander-v3", "algorithm": "nac"}, "a model is for off-policy algorithms"),
        ({"environment": "LunarLander-v3", "algorithm": "offac", "lam": 0.5}, "without traces"),
    ],
)
def test_a_model_where_none_can_be_is_refused_in_a_sentence(request_, sentence):
    with pytest.raises(UserError, match=sentence):
        api.prepare(request_ | {"preset": "robust", "max_steps": None, "settings": {"imagined": 0.5}})


def test_lunar_lander_with_traces_does_without_a_model():
    for lam, imagined in ((0.0, True), (0.7, False)):
        request = {"environment": "LunarLander-v3", "algorithm": "offnac", "max_steps": None, "lam": lam}
        _, experiment = api.prepare(request | {"preset": "robust"})
        assert (experiment.protocol.imagination is not None) == imagined
