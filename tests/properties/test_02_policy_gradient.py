"""The policy gradient theorem: E[δφ] under d̃_π and π is ∇J."""

import jax
import jax.numpy as jnp
import numpy as np

from offnac.directions import Vanilla
from offnac.environments import exact
from offnac.schedules import Clock


def finite_differences(finite, h=1e-5):
    """∇J by central differences of the exact J."""

    @jax.jit
    def J(theta):
        pi = jnp.exp(finite.policy.log_probabilities(theta, finite.mdp.observations))
        return exact.objective(finite.mdp, pi, finite.gamma)

    steps = h * np.eye(len(finite.theta))
    theta = np.asarray(finite.theta)
    return np.array([(J(theta + e) - J(theta - e)) / (2 * h) for e in steps])


def vanilla(finite, data):
    update = jax.jit(Vanilla().update)
    return update((), finite.policy, finite.theta, data.batch, data.omega, data.delta, Clock.start())[1]


def test_vanilla_direction_is_the_gradient_of_J(finite):
    g = finite_differences(finite)
    assert np.linalg.norm(g) > 0.01
    np.testing.assert_allclose(vanilla(finite, finite.on_policy()), g, rtol=0, atol=1e-9)
    np.testing.assert_allclose(vanilla(finite, finite.off_policy()), g, rtol=0, atol=1e-9)


def test_without_w_it_is_not(finite):
    g = finite_differences(finite)
    unweighted = finite.expectation(finite.d_mu, finite.mu, jnp.ones_like(finite.d_mu))
    assert np.linalg.norm(vanilla(finite, unweighted) - g) > 0.01 * np.linalg.norm(g)
