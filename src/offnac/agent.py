"""A policy in the terms of a Gymnasium environment."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from offnac import spaces
from offnac.errors import UserError

if TYPE_CHECKING:
    from offnac.saved_policy import Policy


@dataclass(frozen=True)
class Agent:
    """Takes observations as the environment gives them, one or those of a vector of environments, and gives
    actions as it numbers them. It draws from ``rng``, so that a seed makes an episode repeat."""

    policy: "Policy"
    observation_space: Any
    action_space: Any
    rng: np.random.Generator

    def act(self, observation: Any, deterministic: bool = False) -> Any:
        """a ~ π(·|s), or the most probable action."""
        single = np.shape(observation) == self.observation_space.shape
        rows = spaces.flat(self.observation_space, [observation] if single else observation)
        actions = self.policy.act(rows, None if deterministic else self.rng) + int(self.action_space.start)
        return int(actions[0]) if single else actions

    __call__ = act


def agent(policy: "Policy", environment: Any, seed: int | None) -> Agent:
    """Refuses an environment that the policy was not made for."""
    observed, actions = (
        getattr(environment, f"single_{name}", None) or getattr(environment, name)
        for name in ("observation_space", "action_space")
    )
    spaces.require_known(observed, actions, "the environment", "give one that the policy was made for")
    wanted = (policy.spec.observation_size, policy.spec.actions)
    came = (spaces.size(observed), int(actions.n))
    if wanted != came:
        raise UserError(
            f"this policy was made for {wanted[0]} observations and {wanted[1]} actions, but the environment "
            f"has {came[0]} and {came[1]}; give one of {policy.spec.name}"
        )
    return Agent(policy, observed, actions, np.random.default_rng(seed))
