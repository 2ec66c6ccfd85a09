"""On-policy TD(λ): λ = 1 offline is Monte Carlo, λ = 0 is TD(0), only a termination stops bootstrapping."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.critics import TD, TDLambda
from offnac.networks import MLP
from offnac.optimisers import SGD, Adam
from offnac.schedules import Clock, Constant
from offnac.transition import Transition

GAMMA, ALPHA = 0.9, 0.1
NETWORK = MLP(2, (4,), 1)


@jax.jit
def update(critic, state, batch, w_hat, rho):
    return critic.update(state, batch, w_hat, rho, GAMMA, Clock.start())


@jax.jit
def value_and_gradients(critic, psi, observation):
    return critic.value(psi, observation), jax.jacobian(critic.value)(psi, observation)


def episode(n, ending):
    """n consecutive rows; the last is ``terminated`` or ``truncated``."""
    rng = np.random.default_rng(n)
    s = jnp.asarray(rng.normal(size=(n + 1, 2)))
    last = jnp.arange(n) == n - 1
    no = jnp.zeros(n, bool)
    ends = (last, no) if ending == "terminated" else (no, last)
    r = jnp.asarray(rng.normal(size=n))
    return Transition(s[:-1], jnp.zeros(n, int), r, s[1:], *ends, jnp.ones(n), jnp.arange(n))


@pytest.mark.parametrize("ending", ["terminated", "truncated"])
def test_td_1_offline_is_monte_carlo(ending):
    """One batch is taken at one ψ: its summed increments are αΣ(G_t − V(s_t))∇V(s_t)."""
    n = 7
    critic, batch, one = TDLambda(TD(NETWORK, SGD(Constant(ALPHA))), 1.0), episode(n, ending), jnp.ones(n)
    state = critic.init(jax.random.key(0))
    psi = state.psi
    after = update(critic, state, batch, one, one)

    V, gradients = value_and_gradients(critic, psi, batch.observation)
    V_next, _ = value_and_gradients(critic, psi, batch.next_observation)
    G = V_next[-1] if ending == "truncated" else 0.0
    returns = []
    for r in batch.reward[::-1]:
        G = r + GAMMA * G
        returns.insert(0, G)
    increments = ALPHA * (jnp.array(returns) - V) @ gradients
    np.testing.assert_allclose(n * (after.psi - psi), increments, rtol=0, atol=1e-14)


def test_a_stream_makes_the_same_increments_as_a_batch():
    """Row by row with ψ held back, the same trace; a row with step 0 begins a new one."""
    critic = TDLambda(TD(NETWORK, SGD(Constant(ALPHA))), 0.8)
    batch = jax.tree.map(lambda *v: jnp.concatenate(v), episode(5, "terminated"), episode(4, "truncated"))
    state = start = critic.init(jax.random.key(0))
    one, total = jnp.ones(9), jnp.zeros_like(start.psi)
    for i in range(9):
        row = jax.tree.map(lambda leaf, i=i: leaf[i : i + 1], batch)
        after = update(critic, state, row, one[:1], one[:1])
        total += after.psi - start.psi
        state = after._replace(td=start.td)
    whole = update(critic, start, batch, one, one)
    np.testing.assert_allclose(total, 9 * (whole.psi - start.psi), rtol=0, atol=1e-14)
    np.testing.assert_allclose(state.z, whole.z, rtol=0, atol=1e-14)
    # What the first episode left behind has no part in the second.
    second = update(critic, start, episode(4, "truncated"), one[:4], one[:4])
    np.testing.assert_allclose(whole.z, second.z, rtol=0, atol=1e-14)


@pytest.mark.parametrize("trace", ["corrected", "printed"])
@pytest.mark.parametrize("n", [1, 6])
def test_td_0_is_the_one_step_update(trace, n):
    """Whatever ŵ and ρ are; with Adam too."""
    rng = np.random.default_rng(0)
    w_hat, rho = jnp.asarray(rng.uniform(0.5, 2.0, (2, n)))
    td = TD(NETWORK, Adam(Constant(ALPHA)))
    critic, batch = TDLambda(td, 0.0, trace), episode(n, "truncated")
    state = critic.init(jax.random.key(0))
    traced = update(critic, state, batch, w_hat, rho)
    plain = update(td, state.td, batch, w_hat, rho)
    np.testing.assert_allclose(traced.psi, plain.psi, rtol=0, atol=1e-14)
    assert not jnp.array_equal(plain.psi, state.psi)


def test_only_a_termination_stops_bootstrapping():
    td = TD(NETWORK, SGD(Constant(ALPHA)))
    state = td.init(jax.random.key(0))
    ended, stopped = episode(3, "terminated"), episode(3, "truncated")
    V_next = td.value(state.psi, ended.next_observation)
    difference = td.delta(state, stopped, GAMMA) - td.delta(state, ended, GAMMA)
    np.testing.assert_allclose(difference, GAMMA * V_next * jnp.array([0.0, 0.0, 1.0]), rtol=0, atol=1e-15)
    assert abs(V_next[-1]) > 0.01
