"""F is singular: the iteration reaches F⁺g + (I−F⁺F)x₀, hence F⁺g from x₀ = 0 (errata row 4)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.directions import Iterative
from offnac.directions.iterative import IterativeState
from offnac.optimisers import SGD
from offnac.schedules import Clock, Constant


@jax.jit
def iterate(direction, state, policy, theta, expectation):
    def step(state, _):
        batch, omega, delta = expectation.batch, expectation.omega, expectation.delta
        return direction.update(state, policy, theta, batch, omega, delta, Clock.start())[0], None

    return jax.lax.scan(step, state, length=10_000)[0].x


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_limit_of_the_iteration(finite, start):
    F, g = np.asarray(finite.F), np.asarray(finite.g)
    F_plus = np.linalg.pinv(F, hermitian=True, rcond=1e-10)
    direction = Iterative(SGD(Constant(1.0 / np.linalg.norm(F, 2))))
    state = direction.init(jax.random.key(0), finite.theta)
    np.testing.assert_array_equal(state.x, 0.0)

    x_0 = np.full(len(g), start)
    null = x_0 - F_plus @ (F @ x_0)
    x = iterate(
        direction, IterativeState(jnp.asarray(x_0), ()), finite.policy, finite.theta, finite.off_policy()
    )
    np.testing.assert_allclose(x, F_plus @ g + null, rtol=0, atol=1e-9)
    # A start in the null space of F is never forgotten: it keeps moving θ where π does not change.
    assert start == 0.0 or np.linalg.norm(null) > np.linalg.norm(F_plus @ g)
