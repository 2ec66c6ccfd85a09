"""Tasks of gymnax, stepped inside a jitted program."""

import math
import sys
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from offnac.environments.environment import Observation, Step
from offnac.errors import UserError
from offnac.settings import settings, static
from offnac.transition import Spec


@settings
class GymnaxEnvironment:
    """Any gymnax id with discrete actions; the observation flattened, a discrete one one-hot."""

    name: str = static()
    max_steps: int | Int[Array, ""]

    @property
    def spec(self) -> Spec:
        return _task(self.name).spec

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Observation]:
        task = _task(self.name)
        observation, state = task.rules.reset_env(key, self._parameters())
        return jax.tree.map(jnp.asarray, state), task.flat(observation)

    def step(self, state: Any, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        task, parameters = _task(self.name), self._parameters()
        observation, following, reward, terminated, _ = task.rules.step_env(key, state, action, parameters)
        # A scan's carry keeps its type, and under 64 bits some of gymnax's states do not.
        following = jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), following, state)
        return (
            following,
            task.flat(observation),
            jnp.asarray(reward, jnp.float32),
            jnp.asarray(terminated, bool),
            task.rules.is_truncated(following, parameters),
        )

    def _parameters(self) -> Any:
        return _task(self.name).parameters.replace(max_steps_in_episode=self.max_steps)


class _Task(NamedTuple):
    rules: Any
    parameters: Any
    spec: Spec
    one_hot: bool

    def flat(self, observation: Array) -> Observation:
        if self.one_hot:
            return jax.nn.one_hot(observation, self.spec.observation_size, dtype=jnp.float32)
        return jnp.ravel(observation).astype(jnp.float32)


@lru_cache
def _task(name: str) -> _Task:
    # The first call may come from inside a trace, and gymnax makes arrays that must outlive it
    # even as it is imported.
    with jax.ensure_compile_time_eval():
        gymnax = _gymnax()
        from gymnax.environments import spaces

        try:
            rules, parameters = gymnax.make(name)
        except OSError as error:
            raise UserError(
                f"{name} needs data that could not be fetched ({error}); check the network"
            ) from error
        actions, observed = rules.action_space(parameters), rules.observation_space(parameters)
    if not isinstance(actions, spaces.Discrete):
        raise UserError(
            f"only discrete actions are supported, and {name} has {actions}; choose another environment"
        )
    if not isinstance(observed, spaces.Discrete | spaces.Box):
        raise UserError(
            f"only Box and Discrete observations are supported, and {name} has {observed}; choose another one"
        )
    one_hot = isinstance(observed, spaces.Discrete)
    size = observed.n if one_hot else math.prod(observed.shape)
    return _Task(rules, parameters, Spec(name=name, observation_size=size, actions=actions.n), one_hot)


def constants(name: str) -> Any:
    """The numbers in the rules of a task."""
    return _task(name).parameters


def names() -> list[str]:
    return list(_gymnax().registered_envs)


def _gymnax() -> Any:
    """The package. Some of its tasks import what they draw themselves with (seaborn, and with it pandas and
    scipy's statistics); that takes longer than all the rest, so it is put off until something is drawn."""
    stand_ins = {name: _put_off(name) for name in ("matplotlib.pyplot", "seaborn")}
    for name, stand_in in stand_ins.items():
        sys.modules.setdefault(name, stand_in)
    import gymnax

    # Only gymnax is to see them: whoever imports them later wants all of them.
    for name, stand_in in stand_ins.items():
        if sys.modules[name] is stand_in:
            del sys.modules[name]
    return gymnax


def _put_off(name: str) -> ModuleType:
    """Stands in for a module until something is asked of it. (The standard library's lazy loader loads when
    ``inspect`` looks through all modules, as JAX has it do.)"""

    def __getattr__(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    stand_in: Any = ModuleType(name)
    stand_in.__getattr__ = __getattr__
    return stand_in


def load(name: str, max_steps: int | None = None) -> GymnaxEnvironment:
    """The task ``name``, with its own time limit unless another is given."""
    own = _task(name).parameters.max_steps_in_episode
    return GymnaxEnvironment(name=name, max_steps=int(own) if max_steps is None else max_steps)
