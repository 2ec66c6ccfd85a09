"""θ = Mϑ: how the policy is written down changes the vanilla step and Adam's, but not the natural one."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.directions import Ridge, Vanilla
from offnac.optimisers import SGD, Adam
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock, Constant
from offnac.steps import Free, TrustRegion


class Reparameterised(NamedTuple):
    """π as a function of ϑ = M⁻¹θ."""

    policy: SoftmaxPolicy
    M: jax.Array

    def log_prob(self, vartheta, observation, action):
        return self.policy.log_prob(self.M @ vartheta, observation, action)


NATURAL, VANILLA = Ridge(ridge=1e-10, solver="parameter"), Vanilla()
PLAIN, ADAM = Free(SGD(Constant(1e-2))), Free(Adam(Constant(1e-2)))
REGION = TrustRegion(Constant(1e6), Constant(1e-3))


@jax.jit
def in_function_space(direction, actor_step, policy, theta, expectation):
    """φᵀ(θ′ − θ): how the step changes log π, to first order."""
    batch, omega, delta, clock = expectation.batch, expectation.omega, expectation.delta, Clock.start()
    x = direction.update(direction.init(jax.random.key(0), theta), policy, theta, batch, omega, delta, clock)[
        1
    ]
    stepped = actor_step.update(actor_step.init(theta), policy, theta, batch, omega, x, clock)[1]
    return compatible.advantage(policy, theta, batch, stepped - theta)


@pytest.mark.parametrize(
    ("direction", "actor_step", "invariant"),
    [
        (NATURAL, PLAIN, True),
        (NATURAL, REGION, True),
        (NATURAL, ADAM, False),
        (VANILLA, PLAIN, False),
        (VANILLA, ADAM, False),
    ],
    ids=["natural", "natural in a trust region", "natural through Adam", "vanilla", "vanilla through Adam"],
)
def test_step_in_function_space(finite, direction, actor_step, invariant):
    k = len(finite.theta)
    M = jnp.asarray(np.eye(k) + 0.3 * np.random.default_rng(1).normal(size=(k, k)))
    expectation = finite.off_policy()
    step = in_function_space(direction, actor_step, finite.policy, finite.theta, expectation)
    other = Reparameterised(finite.policy, M)
    moved = in_function_space(direction, actor_step, other, jnp.linalg.solve(M, finite.theta), expectation)
    change = jnp.linalg.norm(moved - step) / jnp.linalg.norm(step)
    assert change < 1e-6 if invariant else change > 0.1
