"""Three states in a row, reward 1 in the last: each way to end has its own known values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.critics import TD, TDLambda
from offnac.environments.tabular import TabularMDP
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.schedules import Clock, Constant
from offnac.transition import Transition

GAMMA = 0.9

ENDINGS = {
    # The task is over: V(2) = 1.
    "termination": (2, True, 1.0),
    # The time limit stops looking, and the task would stay in state 2: V(2) = 1/(1−γ).
    "truncation": (2, False, 1.0 / (1.0 - GAMMA)),
    # State 2 leads back to state 0: V(2) = 1 + γ³V(2).
    "restart": (0, False, 1.0 / (1.0 - GAMMA**3)),
}


def chain(after: int, ends: bool) -> TabularMDP:
    P = jnp.eye(3)[jnp.array([1, 2, after])][:, None, :]
    terminates = jnp.zeros((3, 1, 3), bool).at[2, 0, after].set(ends)
    return TabularMDP(
        P, jnp.array([[0.0], [0.0], [1.0]]), jnp.array([1.0, 0.0, 0.0]), terminates, max_steps=3
    )


def episode(mdp: TabularMDP) -> Transition:
    """The three steps that an environment with a time limit of 3 shows."""
    key = jax.random.key(0)
    state, observation = mdp.reset(key)
    rows = []
    for i in range(3):
        state, seen, reward, terminated, truncated = mdp.step(state, 0, key)
        rows.append(
            Transition(
                observation=observation[None],
                action=jnp.zeros(1, int),
                reward=reward[None],
                next_observation=seen[None],
                terminated=jnp.asarray(terminated)[None],
                truncated=jnp.asarray(truncated)[None],
                behaviour_prob=jnp.ones(1),
                step=jnp.array([i]),
            )
        )
        observation = seen
    batch = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *rows)
    return jax.tree.map(lambda leaf: leaf.astype(float) if leaf.dtype == jnp.float32 else leaf, batch)


@jax.jit
def learned_value(critic, batch):
    one = jnp.ones_like(batch.reward)

    def step(state, _):
        # Every episode begins a new trace.
        return critic.update(state, batch, one, one, GAMMA, Clock.start()), None

    state = jax.lax.scan(step, critic.init(jax.random.key(0)), length=3000)[0]
    return critic.value(state.psi, jnp.eye(3))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("lam", [None, 0.7])
def test_values(ending, lam):
    after, ends, last = ENDINGS[ending]
    batch = episode(chain(after, ends))
    assert batch.truncated.tolist() == [False, False, True]
    assert batch.terminated.tolist() == [False, False, ends]
    td = TD(MLP(3, (), 1, bias=False), SGD(Constant(1.0)))
    V = learned_value(td if lam is None else TDLambda(td, lam), batch)
    np.testing.assert_allclose(V, last * np.array([GAMMA**2, GAMMA, 1.0]), rtol=1e-10)
