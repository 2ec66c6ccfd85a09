import subprocess
import sys

import jax
import pytest

from offnac.environments import PROBES, TABULAR, HostEnvironment, TabularMDP, is_native, make, names
from offnac.environments.gymnax import GymnaxEnvironment
from offnac.errors import UserError


def refusal(name, max_steps=None):
    with pytest.raises(UserError) as caught:
        make(name, max_steps)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CartPole-v1", GymnaxEnvironment),
        ("MountainCar-v0", GymnaxEnvironment),
        ("tabular-random", TabularMDP),
        ("probe-action", TabularMDP),
        ("FrozenLake-v1", HostEnvironment),
    ],
)
def test_each_name_opens_its_kind(name, kind):
    environment = make(name)
    assert type(environment) is kind
    assert environment.spec.name == name
    assert environment.max_steps >= 1
    assert is_native(environment) == (kind is not HostEnvironment)


@pytest.mark.parametrize("name", ["CartPole-v1", "tabular-chain", "probe-truncation", "FrozenLake-v1"])
def test_max_steps_replaces_the_tasks_own(name):
    assert make(name, 7).max_steps == 7


@pytest.mark.parametrize("name", [*TABULAR, *PROBES])
def test_our_own_tasks_are_the_same_every_time(name):
    first, second = make(name), make(name)
    assert jax.tree.all(
        jax.tree.map(lambda a, b: (a == b).all() if hasattr(a, "all") else a == b, first, second)
    )
    assert first.spec.name == name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cartpole", "CartPole-v1"),
        ("CartPole-v2", "CartPole-v1"),
        ("LunarLander-v2", "LunarLander-v3"),
        ("tabular-chian", "tabular-chain"),
        ("probe-truncate", "probe-truncation"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_likely_one(typed, meant):
    message = refusal(typed)
    assert typed in message
    assert f"did you mean '{meant}'" in message or f"or '{meant}'" in message


def test_a_name_like_no_other_is_answered_with_an_example():
    assert "CartPole-v1" in refusal("qqqqqqqq")


@pytest.mark.parametrize("name", ["Pendulum-v1", "LunarLanderContinuous-v3"])
def test_continuous_actions_are_refused(name):
    assert "only discrete actions" in refusal(name)


def test_observations_that_are_no_vector_are_refused():
    assert "only Box and Discrete observations" in refusal("Blackjack-v1")


@pytest.mark.parametrize("max_steps", [0, -3])
def test_a_time_limit_below_one_is_refused(max_steps):
    assert "at least 1" in refusal("CartPole-v1", max_steps)


def test_a_missing_package_is_named(monkeypatch):
    for module in [module for module in sys.modules if module.startswith(("Box2D", "gymnasium.envs.box2d"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "Box2D", None)
    assert "box2d" in refusal("LunarLander-v3").lower()
    monkeypatch.setitem(sys.modules, "ale_py", None)
    assert "ale_py" in refusal("ALE/Pong-v5")
    assert "no_such_module" in refusal("no_such_module:Task-v0")


def test_names_holds_all_three_kinds():
    assert {"CartPole-v1", "LunarLander-v3", "tabular-gridworld", "probe-reward"} <= set(names())


def test_importing_the_room_imports_no_simulator():
    program = (
        "import sys, offnac.environments as e; e.make('tabular-chain');"
        "print({'gymnax', 'gymnasium'} & {*sys.modules})"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
