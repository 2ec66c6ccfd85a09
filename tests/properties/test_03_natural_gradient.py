"""F x* = ∇J; the weights d̃_μ·w·ρ make F and g the on-policy ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.environments import exact


@jax.jit
def F_and_g(policy, theta, batch, omega, delta):
    """E[ωφφᵀ], column by column from products with it, and E[ωδφ]."""
    columns = jax.vmap(lambda v: compatible.fisher_product(policy, theta, batch, omega, v))
    return columns(jnp.eye(len(theta))).T, compatible.combine(
        policy, theta, batch, omega * delta / len(omega)
    )


def of(finite, expectation):
    return F_and_g(finite.policy, finite.theta, expectation.batch, expectation.omega, expectation.delta)


def test_F_times_x_is_g(finite):
    x = exact.natural_gradient(finite.phi, finite.d_pi, finite.pi, finite.A)
    np.testing.assert_allclose(finite.F @ x, finite.g, rtol=0, atol=1e-12)


@pytest.mark.parametrize("data", ["on_policy", "off_policy"])
def test_weighted_data_gives_the_exact_F_and_g(finite, data):
    F, g = of(finite, getattr(finite, data)())
    np.testing.assert_allclose(F, finite.F, rtol=0, atol=1e-13)
    np.testing.assert_allclose(g, finite.g, rtol=0, atol=1e-13)


def test_without_w_both_differ(finite):
    F, g = of(finite, finite.expectation(finite.d_mu, finite.mu, jnp.ones_like(finite.d_mu)))
    assert np.abs(F - finite.F).max() > 0.01 * np.abs(finite.F).max()
    assert np.abs(g - finite.g).max() > 0.01 * np.abs(finite.g).max()
