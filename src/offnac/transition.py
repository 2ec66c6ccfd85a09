"""What flows through offnac: transitions, and the description of their task."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from offnac.settings import settings, static


@settings
class Spec:
    """The task's shape: all that a learner may know of where transitions come from."""

    name: str = static()
    observation_size: int = static()
    actions: int = static()


class Transition(NamedTuple):
    """A batch of ``n`` steps (s, a, r, s′) of a behaviour policy μ; a stream is a batch of one.

    ``terminated`` says that the task ended in s′, ``truncated`` that somebody
    stopped looking (a time limit): only the former stops bootstrapping.
    """

    observation: Float[Array, "n d"]
    action: Int[Array, " n"]
    reward: Float[Array, " n"]
    next_observation: Float[Array, "n d"]
    terminated: Bool[Array, " n"]
    truncated: Bool[Array, " n"]
    behaviour_prob: Float[Array, " n"]
    """μ(a|s) of the action taken."""
    step: Int[Array, " n"]
    """Steps since the start of the episode; 0 marks s₀ ~ d₀."""

    @property
    def continues(self) -> Float[Array, " n"]:
        """c: 0 after a true termination, else 1."""
        return 1.0 - self.terminated.astype(self.reward.dtype)


def stack(rows: list[Transition]) -> Transition:
    """Join batches along their rows."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *rows)
