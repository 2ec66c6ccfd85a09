"""One ridge regression, three roads: sample space = parameter space = converged conjugate gradients."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.directions import Ridge
from offnac.networks import MLP, size
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock
from offnac.transition import Transition

POLICY = SoftmaxPolicy(MLP(3, (4,), 3))
RIDGE = Ridge(ridge=0.01, iterations=400, tolerance=1e-14)


@pytest.fixture(params=[10, 200], ids=["n < k", "n > k"])
def problem(request):
    """(θ, batch, ω, δ); some weights are 0, as ratios may be."""
    n, rng = request.param, np.random.default_rng(0)
    assert (n < size(POLICY.network)) == (n == 10)
    observation, action = jnp.asarray(rng.normal(size=(n, 3))), jnp.asarray(rng.integers(3, size=n))
    omega = jnp.asarray(rng.exponential(size=n) * (rng.random(n) < 0.8))
    theta = POLICY.init(jax.random.key(0))
    return theta, Transition(observation, action, *[None] * 6), omega, jnp.asarray(rng.normal(size=n))


@jax.jit
def solve(direction, problem):
    return direction.solve(POLICY, *problem)


@jax.jit
def update(direction, state, problem):
    return direction.update(state, POLICY, *problem, Clock.start())


def by_definition(theta, batch, omega, delta):
    """(F + λI)⁻¹g with λ = ridge·tr F / k."""
    phi = np.asarray(jax.jit(compatible.features)(POLICY, theta, batch))
    omega, delta = np.asarray(omega), np.asarray(delta)
    n, k = phi.shape
    F, g = phi.T @ (omega[:, None] * phi) / n, phi.T @ (omega * delta) / n
    return np.linalg.solve(F + 0.01 * np.trace(F) / k * np.eye(k), g)


@pytest.mark.parametrize("solver", ["sample", "parameter", "conjugate", "auto"])
def test_solvers_agree(problem, solver):
    x = solve(replace(RIDGE, solver=solver), problem)
    np.testing.assert_allclose(x, by_definition(*problem), rtol=1e-8, atol=1e-10)


def test_memory_delays_nothing(problem):
    """From the first update on, x is the solution itself while the problem stays the same."""
    theta, batch, omega, delta = problem
    direction = replace(RIDGE, memory=0.9)
    state = direction.init(jax.random.key(0), theta)
    for _ in range(5):
        state, x = update(direction, state, problem)
        np.testing.assert_allclose(x, by_definition(*problem), rtol=1e-8, atol=1e-10)
    # Then it averages: a new problem moves it a little.
    _, x = update(direction, state, (theta, batch, omega, -delta))
    weight = 0.1 / (1.0 - 0.9**6)
    np.testing.assert_allclose(x, (1.0 - 2.0 * weight) * by_definition(*problem), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solver", ["sample", "parameter", "conjugate"])
def test_no_features_no_step(problem, solver):
    """All weights 0: x = 0, and no NaN."""
    theta, batch, omega, delta = problem
    x = solve(replace(RIDGE, solver=solver), (theta, batch, jnp.zeros_like(omega), delta))
    np.testing.assert_array_equal(x, jnp.zeros_like(theta))


@pytest.mark.parametrize("gap", [5.0, 20.0, 40.0, 80.0])
def test_a_saturated_policy_has_finite_solutions(gap):
    """F vanishes like e^(−gap): in float32, squares of it underflow, and no road may end in 0/0."""
    with jax.enable_x64(False):
        policy = SoftmaxPolicy(MLP(2, (), 3, bias=False))
        theta = jnp.array([gap, 0.0, 0.0, 0.0, 0.0, 0.3], jnp.float32)
        observation = jnp.array([[1.0, 0.2], [1.0, -0.5]], jnp.float32).repeat(3, axis=0)
        batch = Transition(observation, jnp.tile(jnp.arange(3), 2), *[None] * 4, jnp.full(6, 1 / 3), None)
        omega, delta = policy.probability_ratio(theta, batch), jnp.array([0.1, -0.9, -0.5, 0.2, -0.3, -0.8])
        roads = [Ridge(0.1, solver=solver) for solver in ("sample", "parameter", "conjugate")]
        x, *others = (jax.jit(road.solve)(policy, theta, batch, omega, delta) for road in roads)
        assert jnp.isfinite(x).all()
        for other in others:
            np.testing.assert_allclose(other, x, rtol=0, atol=1e-2 * np.abs(x).max())
