"""½β²xᵀFx is E KL(π_θ ‖ π_{θ+βx}), up to O(β³); the trust region measures its steps so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.schedules import Clock, Constant
from offnac.steps import TrustRegion


def kl(finite, theta):
    """E_{s ~ d̃_π} KL(π_θ(·|s) ‖ π_θ′(·|s))."""
    log_pi = finite.policy.log_probabilities(theta, finite.mdp.observations)
    return finite.d_pi @ jnp.sum(finite.pi * (jnp.log(finite.pi) - log_pi), axis=1)


def direction(finite):
    x = jnp.asarray(np.random.default_rng(0).normal(size=len(finite.theta)))
    return x / jnp.linalg.norm(x)


def test_curvature_is_twice_the_divergence(finite):
    data, x = finite.off_policy(), direction(finite)
    curvature = compatible.curvature(finite.policy, finite.theta, data.batch, data.omega, x)
    np.testing.assert_allclose(curvature, x @ finite.F @ x, rtol=1e-12)

    beta = 0.1 * 0.5 ** jnp.arange(5)
    divergence = jax.vmap(lambda b: kl(finite, finite.theta + b * x))(beta)
    error = jnp.abs(divergence - 0.5 * beta**2 * curvature)
    order = np.log2(error[:-1] / error[1:])
    np.testing.assert_allclose(order, 3.0, atol=0.1)
    assert error[-1] < 0.01 * divergence[-1]


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_trust_region_is_respected(finite, epsilon, size):
    """However long x is, the step's divergence is ε, to the same order."""
    data, x = finite.off_policy(), size * direction(finite)
    step = TrustRegion(Constant(1e9), Constant(epsilon))
    _, theta = step.update((), finite.policy, finite.theta, data.batch, data.omega, x, Clock.start())
    np.testing.assert_allclose(kl(finite, theta), epsilon, rtol=3.0 * epsilon**0.5)


def test_a_short_step_is_taken_whole(finite):
    data, x = finite.off_policy(), direction(finite)
    step = TrustRegion(Constant(1e-3), Constant(1e-2))
    _, theta = step.update((), finite.policy, finite.theta, data.batch, data.omega, x, Clock.start())
    np.testing.assert_allclose(theta, finite.theta + 1e-3 * x, rtol=1e-15)
    assert kl(finite, theta) < 1e-2


def test_no_direction_no_step(finite):
    """xᵀFx = 0 along a shift of the logits, too: the rate alone bounds that step."""
    data = finite.off_policy()
    step = TrustRegion(Constant(1e-3), Constant(1e-2))
    zero = jnp.zeros_like(finite.theta)
    _, theta = step.update((), finite.policy, finite.theta, data.batch, data.omega, zero, Clock.start())
    np.testing.assert_array_equal(theta, finite.theta)
