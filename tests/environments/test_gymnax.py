import sys
from importlib import import_module

import jax
import jax.numpy as jnp
import pytest

from offnac.environments import gymnax
from offnac.errors import UserError

DISCRETE = [
    "CartPole-v1",
    "Acrobot-v1",
    "MountainCar-v0",
    "Asterix-MinAtar",
    "Breakout-MinAtar",
    "Freeway-MinAtar",
    "Seaquest-MinAtar",
    "SpaceInvaders-MinAtar",
    "Catch-bsuite",
    "DeepSea-bsuite",
    "MemoryChain-bsuite",
    "UmbrellaChain-bsuite",
    "DiscountingChain-bsuite",
    "SimpleBandit-bsuite",
    "FourRooms-misc",
    "MetaMaze-misc",
    "BernoulliBandit-misc",
    "GaussianBandit-misc",
    "Pong-misc",
    "FrozenLake-misc",
]


def rollout(environment, steps):
    def step(state, key):
        action = jax.random.randint(key, (), 0, environment.spec.actions)
        state, *seen = environment.step(state, action, key)
        return state, seen

    state, first = environment.reset(jax.random.key(1))
    return first, jax.lax.scan(step, state, jax.random.split(jax.random.key(2), steps))[1]


@pytest.mark.parametrize("name", DISCRETE)
def test_every_discrete_task_has_the_shapes_it_promises(name):
    environment = gymnax.load(name)
    first, (observation, reward, terminated, truncated) = jax.eval_shape(lambda: rollout(environment, 3))
    assert first.shape == (environment.spec.observation_size,)
    assert observation.shape == (3, environment.spec.observation_size)
    assert first.dtype == observation.dtype == reward.dtype == jnp.float32
    assert terminated.dtype == truncated.dtype == bool


@pytest.mark.parametrize(
    "name", ["MountainCar-v0", "UmbrellaChain-bsuite", "FrozenLake-misc", "DeepSea-bsuite"]
)
def test_the_time_limit_is_a_number_and_not_a_new_program(name):
    traces = []

    @jax.jit
    def truncations(environment):
        traces.append(environment)
        return rollout(environment, 9)[1][3]

    for limit in (4, 7):
        assert truncations(gymnax.load(name, limit)).tolist() == [step >= limit for step in range(1, 10)]
    assert len(traces) == 1


def test_a_discrete_observation_is_one_hot():
    first, _ = rollout(gymnax.load("FrozenLake-misc"), 1)
    assert first.tolist() == [1.0] + [0.0] * 15


def test_a_first_use_inside_a_trace_leaves_no_tracer_behind():
    gymnax._task.cache_clear()
    for _ in range(2):
        jax.jit(lambda key: gymnax.GymnaxEnvironment("Acrobot-v1", 5).reset(key)[1])(jax.random.key(0))
    gymnax.GymnaxEnvironment("Acrobot-v1", 5).reset(jax.random.key(0))


def test_sixty_four_bits_change_no_type():
    with jax.enable_x64(True):
        _, (observation, reward, _, _) = rollout(gymnax.load("CartPole-v1"), 5)
    assert observation.dtype == reward.dtype == jnp.float32


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCarContinuous-v0", "Reacher-misc"])
def test_continuous_actions_are_refused(name):
    with pytest.raises(UserError, match="discrete actions"):
        gymnax.load(name)


def test_a_module_that_is_put_off_is_loaded_when_something_is_asked_of_it(monkeypatch):
    import colorsys

    stand_in = gymnax._put_off("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", stand_in)
    assert not hasattr(stand_in, "__file__")
    assert sys.modules["colorsys"] is stand_in, "to look whether it has a file loads nothing"
    assert stand_in.rgb_to_hsv(0.2, 0.4, 0.4) == colorsys.rgb_to_hsv(0.2, 0.4, 0.4)
    assert sys.modules["colorsys"] is not stand_in


def test_after_gymnax_is_imported_what_it_draws_with_is_whole_for_others():
    gymnax.names()
    assert import_module("seaborn.objects").Plot
    assert import_module("matplotlib.pyplot").figure
