"""What flows through offnac: transitions, and the description of their task."""

from typing import Any, NamedTuple

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


class Played(NamedTuple):
    """What is kept of an episode once it is over."""

    total: Float[Array, ""]
    steps: Int[Array, ""]
    surprise: Float[Array, ""]
    """Σ −log μ(a|s) of the actions taken, in units of the uniform behaviour's."""


def blank(shape: tuple[int, ...], spec: Spec, numpy: Any) -> Transition:
    """Room for transitions, in the arrays of NumPy or of JAX."""
    vectors = (*shape, spec.observation_size)
    return Transition(
        observation=numpy.zeros(vectors, numpy.float32),
        action=numpy.zeros(shape, numpy.int32),
        reward=numpy.zeros(shape, numpy.float32),
        next_observation=numpy.zeros(vectors, numpy.float32),
        terminated=numpy.zeros(shape, bool),
        truncated=numpy.zeros(shape, bool),
        behaviour_prob=numpy.ones(shape, numpy.float32),
        step=numpy.zeros(shape, numpy.int32),
    )
