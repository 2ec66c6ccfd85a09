"""The value of a policy by running it."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from offnac import api
from offnac.environments import HostEnvironment, exact, make
from offnac.evaluation import rollout
from offnac.networks import MLP, initialise
from offnac.saved_policy import Policy
from offnac.transition import Spec


@pytest.fixture(scope="module")
def lake_policy():
    network = MLP(16, (), 4, bias=False)
    return Policy(network, initialise(network, jax.random.key(0)), Spec("FrozenLake-v1", 16, 4))


def test_a_seed_determines_the_returns(chain_policy):
    task = make("tabular-chain")
    first, again, other = (rollout.returns(task, chain_policy, 20, seed) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_seed_determines_the_returns_of_a_host_simulator(cartpole_policy):
    task = HostEnvironment("CartPole-v1", max_steps=50)
    first, again, other = (rollout.returns(task, cartpole_policy, 20, seed) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("limit", [None, 4])
def test_the_return_of_a_probe_is_known(limit):
    """Reward 1 a step until the time limit."""
    policy = Policy(MLP(1, (), 2, bias=False), jnp.zeros(2), Spec("probe-truncation", 1, 2))
    result = api.evaluate(policy, "probe-truncation", episodes=3, max_steps=limit)
    assert (result["mean"], result["sd"]) == (limit or 10.0, 0.0)


def test_the_mean_return_is_the_exact_one(chain_policy):
    task = make("tabular-chain", max_steps=1000)
    pi = chain_policy.probabilities(task.observe(jnp.arange(8)))
    # Undiscounted, but the task ends by itself long before the limit.
    wanted = task.d0 @ exact.value(task, jnp.asarray(pi), 1.0)
    totals = rollout.returns(task, chain_policy, 2000, 0)
    assert abs(totals.mean() - wanted) < 4 * totals.std() / 2000**0.5


def test_host_returns_do_not_depend_on_how_many_simulators_there_are(cartpole_policy, monkeypatch):
    task = HostEnvironment("CartPole-v1", max_steps=50)
    found = []
    for width in (1, 7, 16):
        monkeypatch.setattr(rollout, "LOCKSTEP", width)
        found.append(rollout.returns(task, cartpole_policy, 40, 3))
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    # Nor on how many episodes follow.
    assert_array_equal(found[0][:9], rollout.returns(task, cartpole_policy, 9, 3))


def test_gymnax_and_gymnasium_agree_on_the_value_of_a_policy(cartpole_policy):
    episodes = 200
    native = rollout.returns(make("CartPole-v1"), cartpole_policy, episodes, 0)
    host = rollout.returns(HostEnvironment("CartPole-v1"), cartpole_policy, episodes, 0)
    se = ((native.var(ddof=1) + host.var(ddof=1)) / episodes) ** 0.5
    assert se > 0
    assert abs(native.mean() - host.mean()) < 4 * se


class LargestDraw:
    """Draws the largest number below 1."""

    def integers(self, high):
        return 0

    def random(self):
        return np.nextafter(1.0, 0.0).item()


def test_the_largest_draw_is_still_an_action(lake_policy, monkeypatch):
    monkeypatch.setattr(rollout.np.random, "default_rng", lambda *_: LargestDraw())
    task = HostEnvironment("FrozenLake-v1", max_steps=3)
    for seed in range(10):
        theta = initialise(lake_policy.network, jax.random.key(seed))
        rollout.returns(task, replace(lake_policy, theta=theta), 2, 0)


def test_a_policy_that_diverged_can_still_be_run(chain_policy, lake_policy):
    for policy in (chain_policy, lake_policy):
        diverged = replace(policy, theta=jnp.full_like(policy.theta, jnp.nan))
        totals = rollout.returns(make(policy.spec.name, max_steps=5), diverged, 20, 0)
        assert np.all(np.isfinite(totals))


def test_evaluate_summarises_the_returns(chain_policy):
    result = api.evaluate(chain_policy, "tabular-chain", episodes=20, first_seed=4)
    totals = rollout.returns(make("tabular-chain"), chain_policy, 20, 4)
    assert result["episodes"] == 20
    assert_allclose([result["mean"], result["sd"]], [totals.mean(), totals.std(ddof=1)])
    assert_allclose(result["quantiles"]["0.5"], np.median(totals))
