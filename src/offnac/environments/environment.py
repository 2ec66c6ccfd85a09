"""What offnac asks of a task that JAX can step."""

from typing import Any, Protocol

from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.transition import Spec

Observation = Float[Array, " d"]
Step = tuple[Any, Observation, Float[Array, ""], Bool[Array, ""], Bool[Array, ""]]
"""(state, observation, reward, terminated, truncated)"""


class Environment(Protocol):
    """A pytree of the task's numbers with two pure functions.

    An episode that ends is not begun anew: ``step`` returns the true final
    observation, which a truncated transition needs to bootstrap, and the caller
    resets. ``terminated`` and ``truncated`` may both hold, when the task ends
    on the last step of its time limit.
    """

    @property
    def spec(self) -> Spec: ...

    @property
    def max_steps(self) -> int | Int[Array, ""]:
        """Time limit of an episode, in steps."""
        ...

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Observation]:
        """Draw s₀ ~ d₀."""
        ...

    def step(self, state: Any, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        """Draw s′ ~ P(·|s,a)."""
        ...
