"""Rewards that an experiment added to the task's own while it learned.

The published Mountain Car experiments did so without the paper's saying it (errata row 21). Evaluation never
sees them.
"""

import jax.numpy as jnp

from offnac.settings import settings
from offnac.transition import Transition


@settings
class Shaping:
    goal: float
    """Added where the task ends."""
    bands: tuple[tuple[float, float, float], ...] = ()
    """(low, high, what is added) while the first number of s′, the position, lies in [low, high)."""

    def __call__(self, batch: Transition) -> Transition:
        position, added = batch.next_observation[:, 0], jnp.zeros_like(batch.reward)
        for low, high, bonus in self.bands:
            added = jnp.where((position >= low) & (position < high), bonus, added)
        added = jnp.where(batch.terminated, self.goal, added)
        return batch._replace(reward=batch.reward + added)


ON_POLICY = Shaping(goal=1000.0)
OFF_POLICY = Shaping(goal=1000.0, bands=((0.1, 0.4, 10.0), (0.4, 0.6, 20.0)))
