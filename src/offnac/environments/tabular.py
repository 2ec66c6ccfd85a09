"""Finite MDPs: small enough for exact answers, and environments like any other."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.environments.environment import Observation, Step
from offnac.settings import settings, static
from offnac.transition import Spec


class TabularState(NamedTuple):
    s: Int[Array, ""]
    steps: Int[Array, ""]


@settings
class TabularMDP:
    """P, r, d₀, and which transitions end the task.

    Every row of ``P`` sums to 1, also where the task ends: s′ is then what is
    seen last. The reward is a function of (s, a).
    """

    P: Float[Array, "S A S"]
    r: Float[Array, "S A"]
    d0: Float[Array, " S"]
    terminates: Bool[Array, "S A S"]
    """1 where (s, a, s′) is a true termination, so that c = 0 there."""
    max_steps: int | Int[Array, ""] = 100
    observations: Float[Array, "S d"] | None = None
    """What is seen of each state; None: its one-hot vector."""
    name: str = static(default="tabular")

    @property
    def spec(self) -> Spec:
        states, actions = self.r.shape
        seen = states if self.observations is None else self.observations.shape[1]
        return Spec(name=self.name, observation_size=seen, actions=actions)

    @property
    def continues(self) -> Float[Array, "S A S"]:
        """c: 0 on a true termination, else 1."""
        return 1 - self.terminates.astype(self.P.dtype)

    def observe(self, s: Int[Array, "..."]) -> Float[Array, "... d"]:
        if self.observations is None:
            return jax.nn.one_hot(s, self.d0.shape[0], dtype=self.P.dtype)
        return self.observations[s]

    def reset(self, key: PRNGKeyArray) -> tuple[TabularState, Observation]:
        s = draw(key, self.d0)
        return TabularState(s, jnp.zeros((), jnp.int32)), self.observe(s).astype(jnp.float32)

    def step(self, state: TabularState, action: Int[Array, ""], key: PRNGKeyArray) -> Step:
        s, a, steps = state.s, action, state.steps + 1
        s_next = draw(key, self.P[s, a])
        return (
            TabularState(s_next, steps),
            self.observe(s_next).astype(jnp.float32),
            self.r[s, a].astype(jnp.float32),
            self.terminates[s, a, s_next].astype(bool),
            steps >= self.max_steps,
        )


def draw(key: PRNGKeyArray, p: Float[Array, "... m"]) -> Int[Array, "..."]:
    """An index for each row of ``p``, in proportion to it."""
    return jax.random.categorical(key, jnp.log(p)).astype(jnp.int32)


def random_mdp(
    key: PRNGKeyArray,
    states: int = 10,
    actions: int = 3,
    *,
    termination: float = 0.0,
    max_steps: int = 100,
) -> TabularMDP:
    """Transitions uniform on the simplex (so every state follows every other), Gaussian rewards.

    Each (s, a, s′) ends the task with probability ``termination``, drawn once.
    """
    key_P, key_r, key_d0, key_c = jax.random.split(key, 4)
    return TabularMDP(
        P=_simplex(key_P, (states, actions, states)),
        r=jax.random.normal(key_r, (states, actions)),
        d0=_simplex(key_d0, (states,)),
        terminates=jax.random.bernoulli(key_c, termination, (states, actions, states)),
        max_steps=max_steps,
        name="tabular-random",
    )


def _simplex(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Rows from Dirichlet(1, …, 1), as exponentials over their sum: its own sampler is slow to compile."""
    waits = jax.random.exponential(key, shape)
    return waits / waits.sum(axis=-1, keepdims=True)


def chain(n: int = 8, *, slip: float = 0.1, max_steps: int = 100) -> TabularMDP:
    """Walk left (0) or right (1) from the left end; going right at the right end earns 1 and ends the task.

    With probability ``slip`` the other direction is taken. No state is only
    terminal, so that every state has a visitation and a ratio.
    """
    s = jnp.arange(n)
    left = jax.nn.one_hot(jnp.maximum(s - 1, 0), n, dtype=float)
    right = jax.nn.one_hot(jnp.minimum(s + 1, n - 1), n, dtype=float)
    P = jnp.stack([(1 - slip) * left + slip * right, slip * left + (1 - slip) * right], axis=1)
    terminates = jnp.zeros((n, 2, n), bool).at[n - 1, :, n - 1].set(True)
    return TabularMDP(
        P=P,
        r=jnp.sum(P * terminates, axis=-1),
        d0=jax.nn.one_hot(0, n, dtype=float),
        terminates=terminates,
        max_steps=max_steps,
        name="tabular-chain",
    )


def gridworld(rows: int = 4, cols: int = 4, *, slip: float = 0.1, max_steps: int = 100) -> TabularMDP:
    """Up, right, down, left from the top left cell; any action in the bottom right ends it, with reward 1.

    With probability ``slip`` the direction is uniform; a wall leaves one where one is.
    """
    n = rows * cols
    row, col = jnp.divmod(jnp.arange(n), cols)
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    targets = [jnp.clip(row + i, 0, rows - 1) * cols + jnp.clip(col + j, 0, cols - 1) for i, j in moves]
    intended = jax.nn.one_hot(jnp.stack(targets, axis=1), n, dtype=float)
    goal = jax.nn.one_hot(n - 1, n, dtype=float)
    P = (1 - slip) * intended + slip * intended.mean(axis=1, keepdims=True)
    return TabularMDP(
        P=P.at[n - 1].set(goal),
        r=jnp.zeros((n, 4)).at[n - 1].set(1.0),
        d0=jax.nn.one_hot(0, n, dtype=float),
        terminates=jnp.zeros((n, 4, n), bool).at[n - 1].set(True),
        max_steps=max_steps,
        name="tabular-gridworld",
    )
