"""Tasks of one's own: from a module in the working folder, registered by a script, with prints left in."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

from offnac.environments import HostEnvironment, make
from offnac.environments.gymnasium import found_anywhere
from offnac.errors import UserError

MODULE = """
import gymnasium, numpy

class Own(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return numpy.zeros(2, numpy.float32), {}

    def step(self, action):
        observation = numpy.zeros(3 if action == 2 else 2, numpy.float32)
        return observation, float("nan") if action == 1 else 0.0, False, False, {}

gymnasium.register("Own-v0", entry_point=Own, max_episode_steps=4)
"""


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    before = set(gymnasium.registry)
    yield
    for name in set(gymnasium.registry) - before:
        del gymnasium.registry[name]


def test_a_module_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    task = make("own:Own-v0")
    assert isinstance(task, HostEnvironment)
    assert (task.spec.observation_size, task.max_steps) == (2, 4)
    task.reset(0)
    for action, said in ((1, "gave the reward nan"), (2, "should give observations of 2 numbers")):
        with pytest.raises(UserError, match=said):
            task.step(action)
    with pytest.raises(UserError, match="the module silent, which is neither installed nor in this folder"):
        make("silent:Silent-v0")


def test_what_a_task_prints_is_no_news_of_a_worker() -> None:
    code = "from offnac import processes; news = processes.news(); print('step'); print('news', file=news)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("news\n", "step\n")


def test_only_what_a_script_registered_is_unknown_elsewhere() -> None:
    assert found_anywhere("LunarLander-v3") and found_anywhere("own:Own-v0")
    gymnasium.register("Script-v0", entry_point=gymnasium.Env)
    assert not found_anywhere("Script-v0")
    gymnasium.register("Script-v1", entry_point="somewhere.of_mine:Env")
    assert not found_anywhere("Script-v1")
