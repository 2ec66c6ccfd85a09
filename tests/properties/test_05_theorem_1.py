"""Theorem 1: s ~ d̃_μ i.i.d., α_t = 1/(t + t₀): x_t reaches x*, with an error like t^(−1/2)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.directions import Iterative
from offnac.optimisers import SGD
from offnac.schedules import Clock, RobbinsMonro

pytestmark = pytest.mark.optimised

STEPS, KEYS, T_0 = 30_000, 16, 100.0


def scaled(linear):
    """The same policy, its features so large that 1/(t + t₀) contracts every mode faster than t^(−1/2)."""
    scale = np.sqrt(linear.d_mu.sum() / np.linalg.eigvalsh(linear.F)[2])
    mdp = replace(linear.mdp, observations=linear.mdp.observations * scale)
    return linear._replace(mdp=mdp, theta=linear.theta / scale, phi=linear.phi * scale)


@jax.jit
def errors(policy, theta, expectation, omega, projection, limits):
    """‖F⁺F(x_t − x)‖ for each key, each t and each of the limits x."""
    direction = Iterative(SGD(RobbinsMonro(1.0 / T_0, power=1.0, horizon=T_0)))

    def run(key):
        rows = jax.random.categorical(key, jnp.log(expectation.p), shape=(STEPS,))

        def step(state, inputs):
            t, i = inputs
            batch = jax.tree.map(lambda leaf: leaf[i][None], expectation.batch)
            clock = Clock(t, t)
            args = policy, theta, batch, omega[i][None], expectation.delta[i][None], clock
            state = direction.update(state, *args)[0]
            return state, jnp.linalg.norm((state.x - limits) @ projection, axis=1)

        return jax.lax.scan(step, direction.init(key, theta), (jnp.arange(float(STEPS)), rows))[1]

    return jax.vmap(run)(jax.random.split(jax.random.key(0), KEYS))


def test_error_falls_like_the_root_of_t(linear):
    finite = scaled(linear)
    expectation = finite.off_policy()
    rho_w = expectation.omega / expectation.p
    F_plus = np.linalg.pinv(finite.F, hermitian=True, rcond=1e-10)
    x_star, projection = F_plus @ finite.g, F_plus @ finite.F

    # Without w the same iteration solves F_μ x = g_μ, weighted by d̃_μ·ρ alone.
    unweighted = finite.expectation(finite.d_mu, finite.mu, jnp.ones_like(finite.d_mu))
    rho = unweighted.omega / unweighted.p
    F_mu = np.einsum("s,sa,sai,saj->ij", finite.d_mu, finite.pi, finite.phi, finite.phi)
    g_mu = np.einsum("s,sa,sa,sai->i", finite.d_mu, finite.pi, finite.A, finite.phi)
    x_mu = np.linalg.pinv(F_mu, hermitian=True, rcond=1e-10) @ g_mu

    run = jax.vmap(errors, in_axes=(None, None, None, 0, None, None))
    limits = jnp.stack([x_star, x_mu])
    both = run(finite.policy, finite.theta, expectation, jnp.stack([rho_w, rho]), projection, limits)
    weighted, without_w = np.sqrt(np.mean(np.square(both), axis=1))
    moved = np.linalg.norm(x_mu - x_star)

    t = np.geomspace(3e2, STEPS - 1, 30).astype(int)
    slope = np.polyfit(np.log(t), np.log(weighted[t, 0]), 1)[0]
    assert -0.65 < slope < -0.35
    assert weighted[-1, 0] < 0.1 * moved
    assert without_w[-1, 1] < 0.1 * moved < 0.9 * moved < without_w[-1, 0]
