"""An episode whose random numbers are drawn for many steps at once is the same episode."""

import jax
import pytest

from offnac.behaviour import Acting, Uniform
from offnac.environments import make
from offnac.environments.episode import AT_ONCE, advance, begin, finish
from offnac.networks import MLP
from offnac.policy import SoftmaxPolicy


def behaviours(spec):
    policy = SoftmaxPolicy(MLP(spec.observation_size, (8,), spec.actions))
    theta = policy.init(jax.random.key(1))
    yield Uniform(spec.actions)
    yield Acting(policy, theta)
    yield Acting(policy, theta, epsilon=0.3)


@pytest.mark.parametrize("name", ["Acrobot-v1", "tabular-chain"])
@pytest.mark.parametrize("which", range(3), ids=["uniform", "policy", "mixed"])
def test_step_by_step_it_is_the_same(name, which):
    environment = make(name, max_steps=2 * AT_ONCE + 5)
    behaviour = list(behaviours(environment.spec))[which]
    key = jax.random.key(0)
    reset_key, step_key = jax.random.split(key)
    episode, step = begin(environment, reset_key), jax.jit(advance)
    while not episode.done:
        key_now = jax.random.fold_in(step_key, episode.step)
        episode, _ = step(environment, behaviour, episode, key_now)
    played = jax.jit(finish)(environment, behaviour, key)
    assert (played.steps, played.total) == (episode.step, episode.total)
    assert played.surprise == pytest.approx(float(episode.surprise), rel=1e-5)
