"""Tasks of Gymnasium, stepped on the host."""

import math
import os
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from jaxtyping import Float

from offnac import spaces
from offnac.errors import UserError
from offnac.transition import Spec

ENDLESS = 10_000
"""Time limit, in steps, of a task that has none of its own, so that no rollout runs for ever."""

PACKAGES = {"ALE": "ale_py"}
"""Modules that register a namespace's ids only once they are imported."""


class HostEnvironment:
    """Any Gymnasium id with discrete actions; a Box observation flattened, a Discrete one one-hot."""

    def __init__(self, name: str, max_steps: int | None = None) -> None:
        self._task = _open(name, max_steps)
        self.max_steps: int = self._task.spec.max_episode_steps
        actions, observed = self._task.action_space, self._task.observation_space
        spaces.require_known(observed, actions, name, "choose another environment, or wrap this one")
        self.spec = Spec(name=name, observation_size=spaces.size(observed), actions=int(actions.n))
        self._first_action = int(actions.start)
        self._observed, self._one_hot = observed, spaces.is_discrete(observed)
        self._inner, self._left = _inside_of_make(self._task), 0

    def another(self) -> "HostEnvironment":
        """A second simulator of the same task."""
        return HostEnvironment(self.spec.name, self.max_steps)

    def reset(self, seed: int) -> Float[np.ndarray, " d"]:
        """Begin the episode that ``seed`` determines."""
        self._left = self.max_steps
        return self._flat(self._inner.reset(seed=int(seed))[0])

    def step(self, action: int) -> tuple[Float[np.ndarray, " d"], float, bool, bool]:
        """(observation, reward, terminated, truncated) after the action, numbered from 0."""
        observation, reward, terminated, truncated, _ = self._inner.step(self._first_action + int(action))
        self._left -= 1
        if not math.isfinite(reward):
            raise UserError(f"{self.spec.name} gave the reward {reward}, which is no number to learn from")
        return self._flat(observation), float(reward), bool(terminated), bool(truncated) or self._left <= 0

    def close(self) -> None:
        self._task.close()

    def _flat(self, observation: Any) -> Float[np.ndarray, " d"]:
        # A copy: some tasks write every observation into the same array.
        if self._one_hot:
            vector = spaces.flat(self._observed, [observation])[0]
        else:
            vector = np.array(observation, np.float32).reshape(-1)
        if len(vector) != self.spec.observation_size:
            raise UserError(
                f"{self.spec.name} should give observations of {self.spec.observation_size} numbers, "
                f"as its observation space says, but {len(vector)} came"
            )
        return vector


def names() -> list[str]:
    import gymnasium

    return list(gymnasium.registry)


def knows(name: str) -> bool:
    """Whether Gymnasium has the id, which may follow the module that registers it: ``module:Name-v0``."""
    import gymnasium

    return _registered(name) in gymnasium.registry


def found_anywhere(name: str) -> bool:
    """Whether another process finds the task by its name: not where the calling script registered it."""
    import gymnasium

    if ":" in name:
        return True
    entry = gymnasium.spec(_registered(name)).entry_point
    plugins = (plugin.value.partition(":")[0] for plugin in entry_points(group="gymnasium.envs"))
    roots = {module.partition(".")[0] for module in ("gymnasium", *PACKAGES.values(), *plugins)}
    return isinstance(entry, str) and entry.partition(":")[0].partition(".")[0] in roots


def _registered(name: str) -> str:
    """The id alone, once the module that registers it is imported."""
    before, _, identifier = name.rpartition(":")
    module = before or PACKAGES.get(identifier.partition("/")[0])
    if module:
        if before and (here := os.getcwd()) not in sys.path:
            sys.path.append(here)  # a module of one's own is where one works
        try:
            import_module(module)
        except ImportError as error:
            raise UserError(
                f"{name} needs the module {error.name or module}, which is neither installed nor in this "
                "folder; install it, or run offnac where it is"
            ) from error
    return identifier


def _open(name: str, max_steps: int | None) -> Any:
    import gymnasium

    try:
        identifier = _registered(name)
        limit = max_steps or gymnasium.spec(identifier).max_episode_steps or ENDLESS
        return gymnasium.make(identifier, max_episode_steps=limit, disable_env_checker=True)
    except (gymnasium.error.DependencyNotInstalled, ImportError) as error:
        raise UserError(f"{name} needs a package that is not installed: {_sentence(error)}") from error
    except gymnasium.error.Error as error:
        raise UserError(f"Gymnasium cannot open {name}: {_sentence(error)}") from error


def _inside_of_make(task: Any) -> Any:
    """The task without the two wrappers that ``make`` puts around each: every step takes time in them, and
    the limit is counted here, where no step comes before a reset."""
    from gymnasium.wrappers import OrderEnforcing, TimeLimit

    if type(task) is TimeLimit and type(task.env) is OrderEnforcing:
        return task.env.env
    return task


def _sentence(error: Exception) -> str:
    """What another package says, on one line and without the period that ours do not have."""
    return " ".join(str(error).split()).rstrip(".")
