"""Every algorithm learns the probes: V* within a few hundredths, and the best action almost always."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from offnac import presets
from offnac.environments.probe import PROBES
from offnac.environments.tabular import TabularMDP
from offnac.training import native
from offnac.training.protocol import start
from offnac.transition import Spec

pytestmark = pytest.mark.optimised

GAMMA = 0.9
SPEC = Spec("probe", 1, 2)
STEPS = 1500
RATES = {"actor_rate": 5e-3, "value_rate": 5e-3}
NATURAL, OFF_POLICY = {"x_rate": 2e-2}, {"ratio_rate": 1e-3}
LENGTH = {"probe-discount": 2, "probe-truncation": 10}


def padded(mdp: TabularMDP) -> TabularMDP:
    """The same task with a second state, never seen, where it has only one: all probes share one program."""
    if len(mdp.d0) == 1:
        mdp = replace(
            mdp,
            P=np.repeat(np.eye(2, dtype=np.float32)[:, None], 2, axis=1),
            r=np.repeat(mdp.r, 2, axis=0),
            d0=np.array([1, 0], np.float32),
            terminates=np.broadcast_to(mdp.terminates, (2, 2, 2)),
            observations=np.repeat(mdp.observations, 2, axis=0),
        )
    return replace(jax.tree.map(np.array, mdp), name="probe")


def learn(name, algorithm, terminal=False):
    """(V, π) in each of the probe's states after a short run."""
    mdp = PROBES[name]().environment
    rates = RATES | (NATURAL if "nac" in algorithm else {}) | (OFF_POLICY if "off" in algorithm else {})
    experiment = presets.experiment("paper", algorithm, SPEC, gamma=GAMMA, **rates)
    protocol = replace(experiment.protocol, time_limit_terminal=terminal)
    run = start(experiment.algorithm, protocol, SPEC, jax.random.key(0))
    episodes = STEPS // LENGTH.get(name, 1)
    run, _ = native.chunk(padded(mdp), experiment.algorithm, protocol, run, episodes, capacity=STEPS)
    assert run.train_steps == episodes * LENGTH.get(name, 1)
    learner = run.learner
    value = experiment.algorithm.critic.value(learner.value.psi, mdp.observations)
    return value, jnp.exp(experiment.algorithm.policy.log_probabilities(learner.theta, mdp.observations))


@pytest.mark.parametrize("algorithm", ["ac", "nac", "offac", "offnac"])
@pytest.mark.parametrize("name", PROBES)
def test_every_algorithm_learns_every_probe(name, algorithm):
    probe = PROBES[name]()
    value, pi = learn(name, algorithm)
    assert_allclose(value, probe.value(GAMMA), atol=0.05, rtol=0.05)
    for s, action in enumerate(probe.best):
        if action is not None:
            assert pi[s, action] > 0.9


def test_a_time_limit_that_is_taken_for_the_end_gives_another_value():
    """Bootstrapped, V = 1/(1−γ); where one step of ten ends the task, V = 1 + 0.9γV."""
    value, _ = learn("probe-truncation", "ac", terminal=True)
    assert_allclose(value, 1 / (1 - 0.9 * GAMMA), rtol=0.05)
