"""Tasks by name: gymnax's, offnac's own small ones, and any of Gymnasium's with discrete actions."""

from collections.abc import Callable
from dataclasses import replace

import jax
from typing_extensions import TypeIs

from offnac.environments import gymnasium, gymnax
from offnac.environments.environment import Environment
from offnac.environments.gymnasium import HostEnvironment
from offnac.environments.probe import PROBES
from offnac.environments.tabular import TabularMDP, chain, gridworld, random_mdp
from offnac.errors import UserError
from offnac.suggestions import did_you_mean

__all__ = ["Environment", "HostEnvironment", "TabularMDP", "is_native", "make", "names"]

TABULAR: dict[str, Callable[[], TabularMDP]] = {
    "tabular-random": lambda: random_mdp(jax.random.key(0), termination=0.05),
    "tabular-chain": chain,
    "tabular-gridworld": gridworld,
}


def make(name: str, max_steps: int | None = None) -> Environment | HostEnvironment:
    """Open a task; ``max_steps`` replaces its own time limit."""
    if max_steps is not None and not 1 <= max_steps < 2**31:
        raise UserError(
            f"max_steps must be at least 1 and below 2147483648, and {max_steps} came; give another, or none"
        )
    if name in TABULAR or name in PROBES:
        task = TABULAR[name]() if name in TABULAR else PROBES[name]().environment
        return task if max_steps is None else replace(task, max_steps=max_steps)
    if name in gymnax.names():
        return gymnax.load(name, max_steps)
    if gymnasium.knows(name):
        return HostEnvironment(name, max_steps)
    advice = did_you_mean(name, names(), "give a Gymnasium id, such as CartPole-v1", most=3)
    raise UserError(f"there is no environment {name!r}; {advice}")


def names() -> list[str]:
    """Every name that :func:`make` knows without importing another package."""
    return sorted({*TABULAR, *PROBES, *gymnax.names(), *gymnasium.names()})


def is_native(environment: Environment | HostEnvironment) -> TypeIs[Environment]:
    """Whether JAX can step it, inside jit and scan."""
    return not isinstance(environment, HostEnvironment)
