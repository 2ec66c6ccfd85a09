import jax
import jax.numpy as jnp
import pytest
from numpy.testing import assert_allclose

from offnac.environments import exact
from offnac.environments.probe import PROBES

LENGTHS = {
    "probe-reward": 1,
    "probe-discount": 2,
    "probe-observation": 1,
    "probe-action": 1,
    "probe-observation-action": 1,
    "probe-truncation": 10,
}


def table(best):
    rows = [[0.5, 0.5] if action is None else [float(action == 0), float(action == 1)] for action in best]
    return jnp.array(rows)


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("gamma", [0.5, 0.99])
def test_the_stated_value_is_the_best_policys(name, gamma):
    probe = PROBES[name]()
    mdp, pi = probe.environment, table(probe.best)
    assert_allclose(exact.value(mdp, pi, gamma), probe.value(gamma), rtol=1e-5)
    # No action is better than the best one, and where all are as good none is worse.
    advantage = exact.advantage(mdp, pi, gamma)
    assert advantage.max() < 1e-4
    for s, action in enumerate(probe.best):
        assert (jnp.abs(advantage[s]).max() < 1e-4) == (action is None)


@pytest.mark.parametrize("name", PROBES)
def test_an_episode_lasts_as_long_as_it_says(name):
    environment = PROBES[name]().environment
    assert environment.spec.name == name
    state, observation = environment.reset(jax.random.key(0))
    for step in range(1, LENGTHS[name] + 1):
        assert observation.shape == (1,)
        assert observation.dtype == jnp.float32
        assert float(observation[0]) in (-1.0, 1.0)
        state, observation, _, terminated, truncated = environment.step(
            state, jnp.array(0), jax.random.key(step)
        )
        ended = bool(terminated) or bool(truncated)
        assert ended == (step == LENGTHS[name])
    assert bool(terminated) == (name != "probe-truncation")


def test_a_critic_that_bootstraps_through_the_time_limit_finds_the_value():
    probe, gamma, v = PROBES["probe-truncation"](), 0.9, 0.0
    environment = probe.environment
    step = jax.jit(environment.step)
    state, _ = environment.reset(jax.random.key(0))
    for _ in range(200):
        state, _, reward, terminated, truncated = step(state, jnp.array(0), jax.random.key(0))
        v += 0.5 * (float(reward) + gamma * v * (1 - float(terminated)) - v)
        if truncated:
            state, _ = environment.reset(jax.random.key(0))
    assert_allclose(v, probe.value(gamma)[0], rtol=1e-3)
