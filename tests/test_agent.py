"""A saved policy in plain Gymnasium loops."""

from types import SimpleNamespace

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary
from numpy.testing import assert_array_equal

from offnac.errors import UserError
from offnac.networks import MLP, initialise
from offnac.saved_policy import Policy
from offnac.transition import Spec


def policy_of(observations, actions):
    network = MLP(observations, (8,), actions)
    return Policy(network, 3 * initialise(network, jax.random.key(0)), Spec("a task", observations, actions))


def spaces(observed, actions):
    return SimpleNamespace(observation_space=observed, action_space=actions)


def episode(policy, seed):
    environment = gymnasium.make("CartPole-v1")
    act, observation = policy.agent(environment, seed), environment.reset(seed=0)[0]
    actions, done = [], False
    while not done:
        actions.append(act(observation))
        assert environment.action_space.contains(actions[-1])
        observation, _, terminated, truncated, _ = environment.step(actions[-1])
        done = terminated or truncated
    environment.close()
    return actions


def test_a_seed_makes_an_episode_repeat(cartpole_policy):
    assert episode(cartpole_policy, 1) == episode(cartpole_policy, 1)
    assert len({tuple(episode(cartpole_policy, seed)) for seed in range(4)}) > 1


def test_a_vector_of_environments(cartpole_policy):
    environments = gymnasium.make_vec("CartPole-v1", 3)
    act, (observations, _) = cartpole_policy.agent(environments, 0), environments.reset(seed=0)
    assert environments.action_space.contains(act(observations))
    assert_array_equal(act(observations, deterministic=True), cartpole_policy(observations))
    environments.close()


def test_numbered_states_and_actions_that_begin_elsewhere():
    policy = policy_of(5, 3)
    agent = policy.agent(spaces(Discrete(5, start=10), Discrete(3, start=-1)), 0)
    wanted = policy.probabilities(np.eye(5)).argmax(axis=1) - 1
    assert [agent(10 + state, deterministic=True) for state in range(5)] == wanted.tolist()
    assert_array_equal(agent.act(np.arange(10, 15), deterministic=True), wanted)


def test_pictures_are_flattened():
    policy = policy_of(6, 2)
    agent = policy.agent(spaces(Box(-1, 1, (2, 3)), Discrete(2)), 0)
    pictures = np.random.default_rng(0).normal(size=(4, 2, 3))
    wanted = policy(pictures.reshape(4, 6))
    assert_array_equal(agent(pictures, deterministic=True), wanted)
    assert agent(pictures[1], deterministic=True) == wanted[1]


@pytest.mark.parametrize(
    ("observed", "actions", "said"),
    [
        (Box(-1, 1, (4,)), Discrete(3), "made for 4 observations and 2 actions, but the environment has 4"),
        (Box(-1, 1, (4,)), Box(-1, 1, (1,)), "only discrete actions"),
        (MultiBinary(4), Discrete(2), "only Box and Discrete observations"),
    ],
)
def test_another_environment_is_refused(cartpole_policy, observed, actions, said):
    with pytest.raises(UserError, match=said):
        cartpole_policy.agent(spaces(observed, actions))


def test_a_generator_moves_on_and_repeats(cartpole_policy):
    rows = np.zeros((50, 4))
    first, second = np.random.default_rng(3), np.random.default_rng(3)
    draws = [cartpole_policy(rows, first) for _ in range(2)]
    assert_array_equal(draws[0], cartpole_policy(rows, second))
    assert not np.array_equal(*draws)
