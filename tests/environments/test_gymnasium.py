import gymnasium
import numpy as np
import pytest

from offnac.environments.gymnasium import ENDLESS, HostEnvironment, knows


def episode(environment, seed, steps):
    rng = np.random.default_rng(0)
    rows = [environment.reset(seed)]
    for _ in range(steps):
        observation, reward, terminated, truncated = environment.step(
            int(rng.integers(environment.spec.actions))
        )
        rows.append(np.array([*observation, reward, terminated, truncated]))
        if terminated or truncated:
            break
    return np.concatenate(rows)


def test_lunar_lander_is_determined_by_its_seed():
    environment, another = HostEnvironment("LunarLander-v3"), HostEnvironment("LunarLander-v3")
    assert (environment.spec.observation_size, environment.spec.actions, environment.max_steps) == (
        8,
        4,
        1000,
    )
    first = episode(environment, 5, 60)
    other = episode(environment, 6, 60)
    np.testing.assert_array_equal(first, episode(environment, 5, 60))
    np.testing.assert_array_equal(first, episode(another, 5, 60))
    assert not np.array_equal(first, other)
    environment.close()
    another.close()


def test_every_step_is_the_one_that_gymnasium_gives():
    """Observations, rewards and ends of whole episodes, to the last bit; the last meets its time limit."""
    rng = np.random.default_rng(1)
    for seed, limit in [(0, 1000), (1, 1000), (2, 1000), (3, 40)]:
        ours = HostEnvironment("LunarLander-v3", limit)
        plain = gymnasium.make("LunarLander-v3", max_episode_steps=limit)
        np.testing.assert_array_equal(ours.reset(seed), plain.reset(seed=seed)[0])
        done, steps = False, 0
        while not done:
            action = int(rng.integers(4))
            observation, *rest = ours.step(action)
            expected, *others, _ = plain.step(action)
            np.testing.assert_array_equal(observation, expected)
            assert rest == others
            done, steps = rest[1] or rest[2], steps + 1
        assert steps == limit or rest[1]
        assert steps > 30


@pytest.mark.parametrize("name", ["LunarLander-v3", "CliffWalking-v1"])
def test_the_time_limit_can_be_set(name):
    environment = HostEnvironment(name, 3)
    environment.reset(0)
    flags = [environment.step(0)[2:] for _ in range(3)]
    assert flags == [(False, False), (False, False), (False, True)]
    environment.reset(0)
    assert environment.step(0)[3] is False


def test_a_longer_time_limit_than_the_registered_one():
    environment = HostEnvironment("MountainCar-v0", 250)
    environment.reset(0)
    assert [environment.step(1)[3] for _ in range(250)] == [False] * 249 + [True]


def test_a_task_without_a_time_limit_gets_one():
    assert HostEnvironment("CliffWalking-v1").max_steps == ENDLESS


def test_a_discrete_observation_is_one_hot():
    environment = HostEnvironment("CliffWalking-v1")
    observation = environment.reset(0)
    assert observation.dtype == np.float32
    assert observation.shape == (48,)
    assert observation.sum() == 1
    assert observation[36] == 1


class Counting(gymnasium.Env):
    """Actions 3, 4, 5; observations a matrix of integers, or a number from 7 on; all in one array."""

    action_space = gymnasium.spaces.Discrete(3, start=3)

    def __init__(self, matrix=True):
        self.matrix = matrix
        box = gymnasium.spaces.Box(0, 9, (2, 2), np.int64)
        self.observation_space = box if matrix else gymnasium.spaces.Discrete(3, start=7)
        self.seen = np.zeros((2, 2), np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen[:] = 0
        return self.seen if self.matrix else 7, {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.seen += action
        return self.seen if self.matrix else 7 + action - 3, np.float64(action), False, False, {}


@pytest.fixture
def counting():
    gymnasium.register("Counting-v0", Counting, max_episode_steps=10)
    yield "Counting-v0"
    del gymnasium.registry["Counting-v0"]


def test_actions_that_do_not_start_at_zero(counting):
    environment = HostEnvironment(counting)
    assert environment.spec.actions == 3
    first = environment.reset(0)
    for action in range(3):
        environment.reset(0)
        observation, reward, _, _ = environment.step(action)
        assert reward == action + 3
        assert observation.tolist() == [action + 3] * 4
        assert observation.dtype == np.float32
    assert first.tolist() == [0, 0, 0, 0]


def test_observations_that_do_not_start_at_zero():
    gymnasium.register("CountingStates-v0", Counting, kwargs={"matrix": False}, max_episode_steps=10)
    environment = HostEnvironment("CountingStates-v0")
    del gymnasium.registry["CountingStates-v0"]
    assert environment.reset(0).tolist() == [1, 0, 0]
    assert environment.step(2)[0].tolist() == [0, 0, 1]


def test_a_module_before_the_colon_is_imported(tmp_path, monkeypatch):
    source = (
        "import gymnasium\ngymnasium.register('Elsewhere-v0', 'gymnasium.envs.toy_text:CliffWalkingEnv')\n"
    )
    (tmp_path / "registers_elsewhere.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    assert knows("registers_elsewhere:Elsewhere-v0")
    assert not knows("registers_elsewhere:Nowhere-v0")
    assert HostEnvironment("registers_elsewhere:Elsewhere-v0").spec.observation_size == 48
    del gymnasium.registry["Elsewhere-v0"]
