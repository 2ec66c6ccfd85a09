"""What the composition adds of its own: an actor that favours an action."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from numpy.testing import assert_allclose, assert_array_equal

from offnac.actor_critic import ActorCritic
from offnac.critics import TD
from offnac.directions import Ridge
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.policy import SoftmaxPolicy
from offnac.ratios import One, Ratios
from offnac.schedules import Constant
from offnac.steps import TrustRegion
from offnac.transition import Spec, Transition

ACTIONS, STATES = 3, 16
PLAIN = ActorCritic(
    policy=SoftmaxPolicy(MLP(2, (8,), ACTIONS, initialisation="zero")),
    ratios=Ratios(One(), One()),
    critic=TD(MLP(2, (8,), 1), SGD(Constant(0.1))),
    direction=Ridge(1.0),
    step=TrustRegion(Constant(1.0), Constant(1e-3)),
)


def every_action(reward):
    """Every action in every one of some states, after which the task ends."""
    rows = STATES * ACTIONS
    state = jnp.repeat(jax.random.normal(jax.random.key(0), (STATES, 2)), ACTIONS, axis=0)
    action = jnp.tile(jnp.arange(ACTIONS), STATES)
    ended = jnp.ones(rows, bool)
    return Transition(
        state, action, reward[action], state, ended, ~ended, jnp.full(rows, 1.0 / ACTIONS), jnp.zeros(rows)
    )


def learned(learner, batch, updates=200):
    state = learner.init(jax.random.key(1), Spec("", 2, ACTIONS))
    for _ in range(updates):
        state, info = learner.update(state, batch)
    return state, info, jnp.exp(learner.policy.log_probabilities(state.theta, batch.observation))


def test_where_actions_are_worth_the_same_the_favoured_one_is_taken():
    batch = every_action(jnp.zeros(ACTIONS))
    _, _, unmoved = learned(PLAIN, batch)
    _, _, moved = learned(replace(PLAIN, favour=(0.0, 0.1, 0.0)), batch)
    assert_allclose(unmoved, 1.0 / ACTIONS, atol=0.1)
    assert moved[:, 1].min() > 0.9


def test_an_action_that_is_better_by_more_than_that_is_still_taken():
    _, _, chosen = learned(replace(PLAIN, favour=(0.0, 0.1, 0.0)), every_action(jnp.array([0.3, 0.0, 0.0])))
    assert chosen[:, 0].min() > 0.9


def test_critics_keep_to_the_rewards_of_the_task():
    batch = every_action(jnp.array([0.3, 0.0, -0.2]))
    plain, seen, _ = learned(PLAIN, batch, 1)
    favoured, told, _ = learned(replace(PLAIN, favour=(0.0, 0.1, 0.0)), batch, 1)
    assert_array_equal(favoured.value.psi, plain.value.psi)
    assert_allclose(told.delta - seen.delta, jnp.array([0.0, 0.1, 0.0])[batch.action], atol=1e-6)
