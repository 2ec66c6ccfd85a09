"""Tasks so small that a learner's every answer is known: run a new critic or actor on these first.

Each isolates one thing that can be wrong. No state shows 0, which a network
without biases could not answer. They are finite MDPs, so
:mod:`offnac.environments.exact` has the rest of their answers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax.numpy as jnp

from offnac.environments.tabular import TabularMDP

ACTIONS = 2


class Probe(NamedTuple):
    """A task, the value of each of its states under the best policy, and that policy."""

    environment: TabularMDP
    value: Callable[[float], tuple[float, ...]]
    """γ ↦ V*(s)."""
    best: tuple[int | None, ...]
    """The best action in each state; None: every action is as good."""


def reward() -> Probe:
    """One step, reward 1: does the critic learn a constant, and stop at a termination?"""
    task = _mdp("probe-reward", seen=[1], r=[1], following=[0], ends=[True])
    return Probe(task, lambda gamma: (1.0,), (None,))


def discount() -> Probe:
    """Two steps, reward 1 at the end: is the next state's value discounted once?"""
    task = _mdp("probe-discount", seen=[-1, 1], r=[0, 1], following=[1, 1], ends=[False, True], starts=[1, 0])
    return Probe(task, lambda gamma: (gamma, 1.0), (None, None))


def observation() -> Probe:
    """One step, s = ±1 at random, reward s: does the critic look at the observation?"""
    task = _mdp("probe-observation", seen=[-1, 1], r=[-1, 1], following=[0, 1], ends=[True, True])
    return Probe(task, lambda gamma: (-1.0, 1.0), (None, None))


def action() -> Probe:
    """One step, reward 1 for action 1 and −1 for action 0: does the actor climb?"""
    task = _mdp("probe-action", seen=[1], r=[[-1, 1]], following=[0], ends=[True])
    return Probe(task, lambda gamma: (1.0,), (1,))


def observation_action() -> Probe:
    """One step, reward ±1 for the action that matches s: does the actor look at the observation?"""
    task = _mdp(
        "probe-observation-action", seen=[-1, 1], r=[[1, -1], [-1, 1]], following=[0, 1], ends=[True, True]
    )
    return Probe(task, lambda gamma: (1.0, 1.0), (0, 1))


def truncation() -> Probe:
    """Reward 1 for ever, cut off after 10 steps: does the critic bootstrap through a time limit?"""
    task = _mdp("probe-truncation", seen=[1], r=[1], following=[0], ends=[False], max_steps=10)
    return Probe(task, lambda gamma: (1.0 / (1.0 - gamma),), (None,))


PROBES: dict[str, Callable[[], Probe]] = {
    "probe-reward": reward,
    "probe-discount": discount,
    "probe-observation": observation,
    "probe-action": action,
    "probe-observation-action": observation_action,
    "probe-truncation": truncation,
}


def _mdp(
    name: str,
    *,
    seen: Sequence[float],
    r: Sequence[float] | Sequence[Sequence[float]],
    following: Sequence[int],
    ends: Sequence[bool],
    starts: Sequence[float] | None = None,
    max_steps: int = 100,
) -> TabularMDP:
    """State i shows ``seen[i]`` and leads to ``following[i]`` whatever the action, ending the task or not."""
    n = len(seen)
    eye = jnp.eye(n)
    return TabularMDP(
        P=jnp.repeat(eye[jnp.array(following)][:, None], ACTIONS, axis=1),
        r=jnp.broadcast_to(jnp.array(r, eye.dtype).reshape(n, -1), (n, ACTIONS)),
        d0=jnp.full(n, 1 / n) if starts is None else jnp.array(starts, eye.dtype),
        terminates=jnp.broadcast_to(jnp.array(ends)[:, None, None], (n, ACTIONS, n)),
        max_steps=max_steps,
        observations=jnp.array(seen, eye.dtype)[:, None],
        name=name,
    )
