"""Off-policy TD(λ): z ← ρ(γλz + ŵ∇V) has the on-policy fixed point; the printed trace has not (errata row 6).

Both traces are affine in z, so the stationary E[z_{t−1} | s_t] follows from the
library's own step, taken on every transition at once: no sampling.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.critics import TD, TDLambda
from offnac.critics.td_lambda import TraceState
from offnac.environments import exact
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.schedules import Clock, Constant

GAMMA, LAMBDA = 0.9, 0.8


@pytest.fixture
def task(finite):
    """The continuing task: (MDP without terminations, d_μ, d_π of it)."""
    mdp = type(finite.mdp)(
        finite.mdp.P,
        finite.mdp.r,
        finite.mdp.d0,
        jnp.zeros_like(finite.mdp.terminates),
        observations=finite.mdp.observations,
    )
    return mdp, exact.stationary(mdp, finite.mu), exact.stationary(mdp, finite.pi)


@jax.jit
def expected_increment(critic, psi, batch, p, w_hat, rho, s, s_next):
    """E[ψ′ − ψ] at a held ψ, under the stationary distribution of (z, s, a, s′)."""
    states, k = 6, psi.shape[0]
    mass = jax.ops.segment_sum(p, s, states)

    def one(z, row, w_hat, rho):
        state = critic.init(jax.random.key(0))
        state = TraceState(state.td._replace(psi=psi), z)
        row = jax.tree.map(lambda leaf: leaf[None], row)
        after = critic.update(state, row, w_hat[None], rho[None], GAMMA, Clock.start())
        return after.z, after.psi - psi

    every = jax.vmap(one)

    def carry(z, _):
        z_after, _ = every(z[s], batch, w_hat, rho)
        return jax.ops.segment_sum(p[:, None] * z_after, s_next, states) / mass[:, None], None

    z = jax.lax.scan(carry, jnp.zeros((states, k)), length=300)[0]
    return p @ every(z[s], batch, w_hat, rho)[1]


def expected_system(finite, task, every_transition, critic):
    """(A, b) of E[ψ′ − ψ] = b − Aψ."""
    mdp, d_mu, d_pi = task
    batch, p = every_transition(mdp, d_mu, finite.mu)
    s, _, s_next = (i.ravel() for i in jnp.indices(mdp.P.shape))
    rho = finite.policy.probability_ratio(finite.theta, batch)
    increment = partial(
        expected_increment,
        critic,
        batch=batch,
        p=p / p.sum(),
        w_hat=(d_pi / d_mu)[s],
        rho=rho,
        s=s,
        s_next=s_next,
    )
    k = mdp.observations.shape[1]
    at_zero, *at_units = jax.vmap(lambda psi: increment(psi))(
        jnp.concatenate([jnp.zeros((1, k)), jnp.eye(k)])
    )
    return np.stack([at_zero - unit for unit in at_units], axis=1), np.asarray(at_zero)


def on_policy_system(finite, task, lam):
    """XᵀD_π(I−γλP_π)⁻¹(I−γP_π)X and XᵀD_π(I−γλP_π)⁻¹r_π."""
    mdp, _, d_pi = task
    X, P_pi = np.asarray(mdp.observations), np.asarray(exact.state_chain(mdp, finite.pi))
    r_pi = np.sum(finite.pi * mdp.r, axis=1)
    left = X.T @ np.diag(d_pi) @ np.linalg.inv(np.eye(len(X)) - GAMMA * lam * P_pi)
    return left @ (np.eye(len(X)) - GAMMA * P_pi) @ X, left @ r_pi


def critic_of(trace, lam=LAMBDA):
    return TDLambda(TD(MLP(2, (), 1, bias=False), SGD(Constant(1.0))), lam, trace)


@pytest.mark.parametrize("lam", [0.0, LAMBDA, 1.0])
def test_corrected_trace_has_the_on_policy_matrices(finite, task, every_transition, lam):
    A, b = expected_system(finite, task, every_transition, critic_of("corrected", lam))
    A_pi, b_pi = on_policy_system(finite, task, lam)
    np.testing.assert_allclose(A, A_pi, rtol=0, atol=1e-11)
    np.testing.assert_allclose(b, b_pi, rtol=0, atol=1e-11)


def test_printed_trace_does_not(finite, task, every_transition):
    A, b = expected_system(finite, task, every_transition, critic_of("printed"))
    A_pi, b_pi = on_policy_system(finite, task, LAMBDA)
    fixed_point = np.linalg.solve(A_pi, b_pi)
    assert np.linalg.norm(np.linalg.solve(A, b) - fixed_point) > 0.1 * np.linalg.norm(fixed_point)
    assert np.abs(A - A_pi).max() > 0.01 * np.abs(A_pi).max()


def test_printed_trace_does_without_a_trace(finite, task, every_transition):
    A, b = expected_system(finite, task, every_transition, critic_of("printed", 0.0))
    A_pi, b_pi = on_policy_system(finite, task, 0.0)
    np.testing.assert_allclose(A, A_pi, rtol=0, atol=1e-12)
    np.testing.assert_allclose(b, b_pi, rtol=0, atol=1e-12)
