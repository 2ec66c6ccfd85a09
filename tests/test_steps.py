"""The mean of θ's path, and that it is what is evaluated, kept and tested where it is asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from offnac import presets
from offnac.environments import make
from offnac.errors import UserError
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.policy import SoftmaxPolicy
from offnac.schedules import Clock, Constant
from offnac.steps import Averaged, Free
from offnac.training import native
from offnac.training.protocol import start


def test_the_mean_is_of_the_path_that_the_step_takes_anyway():
    policy, free = SoftmaxPolicy(MLP(2, (3,), 2)), Free(SGD(Constant(0.1)))
    averaged = Averaged(free, memory=0.75)
    theta = alone = mean = policy.init(jax.random.key(0))
    state = averaged.init(theta)
    for i in range(5):
        x = jnp.sin(jnp.arange(theta.size) + i)
        given = (policy, None, None, x, Clock.start())
        state, theta = averaged.update(state, policy, theta, *given[1:])
        alone = free.update(free.init(alone), policy, alone, *given[1:])[1]
        mean = 0.75 * mean + 0.25 * alone
    assert_array_equal(theta, alone)
    assert_allclose(state.mean, mean, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("average", [pytest.param(None, marks=pytest.mark.thorough), 0.5])
def test_off_policy_what_is_learned_is_what_is_kept(average):
    task = make("CartPole-v1", max_steps=30)
    few = {"batch": 64, "minibatches": 2, "ratio_rows": 32, "capacity": 256, "warm_up": 1, "updates": 3}
    chosen = presets.experiment("robust", "offac", task.spec, settings=few | {"average": average})
    settings = (task, chosen.algorithm, chosen.protocol)
    run, _ = native.chunk(*settings, start(*settings[1:], task.spec, jax.random.key(1)), 1, 1)
    clock = run.learner.clock._replace(best=jnp.float32(-1.0))  # whatever comes is better
    run, _ = native.chunk(*settings, run._replace(learner=run.learner._replace(clock=clock)), 1, 1)
    assert run.best_episode == 1
    assert_array_equal(run.best_theta, run.learner.learned)
    assert np.array_equal(run.learner.learned, run.learner.theta) == (average is None)


@pytest.mark.parametrize(("algorithm", "average"), [("nac", 0.9), ("offnac", 1.0)])
def test_a_mean_that_nobody_would_follow_is_refused(algorithm, average):
    with pytest.raises(UserError, match="the setting average should be below 1, and for an off-policy"):
        presets.experiment("robust", algorithm, make("CartPole-v1").spec, settings={"average": average})
