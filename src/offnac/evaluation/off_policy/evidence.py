"""What a log says about a policy, before anything is estimated."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offnac.evaluation.audit.policy import probabilities
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.logs import Log
from offnac.saved_policy import Policy

CHUNK = 1 << 16
"""Rows that a policy is asked about at a time."""
EXTREME = 300.0
"""|log Π ρ| stops here, where squares do not overflow yet; no estimate survives such weights anyway."""


@dataclass(frozen=True)
class Evidence:
    log: Log
    pi: NDArray[np.float32]
    """π(·|s) of each row [n, A]."""
    pi_next: NDArray[np.float32]
    """π(·|s′)."""

    @cached_property
    def rho(self) -> NDArray[np.float64]:
        """ρ = π(a|s)/μ(a|s)."""
        taken = self.pi[np.arange(len(self.log)), self.log.rows.action]
        return taken.astype(float) / np.asarray(self.log.rows.behaviour_prob, float)

    @cached_property
    def log_weight(self) -> NDArray[np.float64]:
        """log Π_{i ≤ t} ρ_i along each episode."""
        steps = np.log(np.maximum(self.rho, np.finfo(np.float32).tiny))
        total = np.cumsum(steps)
        before = (total - steps)[self.log.starts]
        return np.asarray(total - before[self.log.episode])

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Π_{i ≤ t} ρ_i: how much likelier π makes the episode so far than μ did."""
        return np.exp(np.clip(self.log_weight, -EXTREME, EXTREME))

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """The last row of each episode."""
        return np.append(self.log.starts[1:], len(self.log)) - 1

    @cached_property
    def cut(self) -> NDArray[np.float64]:
        """1 on the last row of an episode that was cut short: what would have followed is not known."""
        cut = np.zeros(len(self.log))
        cut[self.last] = ~np.asarray(self.log.rows.terminated)[self.last]
        return cut

    def episode_weight(self, criterion: Criterion) -> NDArray[np.float64]:
        """Π ρ over each whole episode, or over what the time limit lets count of it; the largest is 1."""
        length = self.last - self.log.starts + 1
        whole = self.log_weight[self.log.starts + np.minimum(length, criterion.steps).astype(int) - 1]
        return np.exp(whole - whole.max())

    def effective_episodes(self, criterion: Criterion) -> float:
        """(ΣW)²/ΣW²: how many episodes of π the weighted episodes are worth."""
        weight = self.episode_weight(criterion)
        return float(weight.sum() ** 2 / (weight**2).sum())

    def per_episode(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the rows of each episode."""
        return np.bincount(self.log.episode, weights=values, minlength=self.log.episodes).astype(float)


def gather(policy: Policy, log: Log) -> Evidence:
    """Ask the policy about every row."""
    pi = probabilities(policy)

    def ask(observation: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.concatenate([pi(observation[i : i + CHUNK]) for i in range(0, len(observation), CHUNK)])

    return Evidence(log, ask(np.asarray(log.rows.observation)), ask(np.asarray(log.rows.next_observation)))
