"""Exact answers against brute force: power sums, finite differences, simulation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from offnac.environments import exact
from offnac.environments.tabular import chain, gridworld, random_mdp

GAMMA = 0.9


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def mdp():
    return random_mdp(jax.random.key(3), 6, 3, termination=0.1)


@pytest.fixture
def pi():
    return jax.nn.softmax(jax.random.normal(jax.random.key(4), (6, 3)))


def power_sum(matrix, start, terms=600):
    """Σ γ^t Mᵗ start."""
    total, term = np.zeros_like(start), np.array(start)
    for _ in range(terms):
        total, term = total + term, GAMMA * (np.asarray(matrix) @ term)
    return total


def test_chains_by_loops(mdp, pi):
    P_pi, restart = np.zeros((6, 6)), np.zeros((6, 6))
    for s, a, t in np.ndindex(6, 3, 6):
        p = pi[s, a] * mdp.P[s, a, t]
        if mdp.terminates[s, a, t]:
            restart[s] += p * mdp.d0
        else:
            P_pi[s, t] += p
            restart[s, t] += p
    assert_allclose(exact.state_chain(mdp, pi), P_pi, atol=1e-14)
    assert_allclose(exact.restart_chain(mdp, pi), restart, atol=1e-14)
    assert_allclose(restart.sum(axis=1), 1)
    assert P_pi.sum(axis=1).min() < 0.99


def test_discounted_visitation_is_the_discounted_sum_over_time(mdp, pi):
    by_time = (1 - GAMMA) * power_sum(exact.state_chain(mdp, pi).T, mdp.d0)
    assert_allclose(exact.discounted_visitation(mdp, pi, GAMMA), by_time, atol=1e-12)


def test_value_is_the_discounted_sum_of_rewards(mdp, pi):
    by_time = power_sum(exact.state_chain(mdp, pi), jnp.sum(pi * mdp.r, axis=1))
    assert_allclose(exact.value(mdp, pi, GAMMA), by_time, atol=1e-12)


def test_q_value_and_advantage(mdp, pi):
    q, v = exact.q_value(mdp, pi, GAMMA), exact.value(mdp, pi, GAMMA)
    for s, a in np.ndindex(6, 3):
        ahead = sum(mdp.P[s, a, t] * v[t] for t in range(6) if not mdp.terminates[s, a, t])
        assert_allclose(q[s, a], mdp.r[s, a] + GAMMA * ahead, atol=1e-12)
    assert_allclose(jnp.sum(pi * q, axis=1), v, atol=1e-12)
    assert_allclose(exact.advantage(mdp, pi, GAMMA), q - v[:, None], atol=1e-14)


def test_stationary_is_the_long_run_of_the_restart_chain(mdp, pi):
    long_run = mdp.d0 @ jnp.linalg.matrix_power(exact.restart_chain(mdp, pi), 2000)
    assert_allclose(exact.stationary(mdp, pi), long_run, atol=1e-12)


def test_stationary_of_a_periodic_chain():
    mdp = chain(3, slip=0.0)
    assert_allclose(exact.stationary(mdp, jnp.array([[0.0, 1.0]] * 3)), jnp.full(3, 1 / 3), atol=1e-12)


def test_objective_is_the_reward_under_the_visitation(mdp, pi):
    d = exact.discounted_visitation(mdp, pi, GAMMA)
    assert_allclose(exact.objective(mdp, pi, GAMMA), jnp.sum(d[:, None] * pi * mdp.r), atol=1e-12)


@pytest.fixture
def softmax_policy():
    """π with 5 parameters for 6 states and 3 actions, so that φ cannot represent A."""
    features = jax.random.normal(jax.random.key(5), (6, 3, 5))
    theta = jax.random.normal(jax.random.key(6), (5,))

    def log_pi(theta):
        return jax.nn.log_softmax(features @ theta)

    return log_pi, theta


def test_gradient_against_finite_differences(mdp, softmax_policy):
    log_pi, theta = softmax_policy
    pi, phi = jnp.exp(log_pi(theta)), jax.jacobian(log_pi)(theta)
    d = exact.discounted_visitation(mdp, pi, GAMMA)
    g = exact.gradient(phi, d, pi, exact.advantage(mdp, pi, GAMMA))

    def J(theta):
        return exact.objective(mdp, jnp.exp(log_pi(theta)), GAMMA)

    differences = [(J(theta + h) - J(theta - h)) / 2e-5 for h in 1e-5 * jnp.eye(5)]
    assert_allclose(g, jnp.array(differences), atol=1e-9)


def test_natural_gradient_solves_the_singular_system(mdp, softmax_policy):
    log_pi, theta = softmax_policy
    # Two parameters that the policy does not see make F singular.
    wide = jnp.concatenate([theta, jnp.zeros(2)])
    pi, phi = jnp.exp(log_pi(theta)), jax.jacobian(lambda w: log_pi(w[:5] + w[5] - w[6]))(wide)
    d, A = exact.discounted_visitation(mdp, pi, GAMMA), exact.advantage(mdp, pi, GAMMA)
    F, g, x = exact.fisher(phi, d, pi), exact.gradient(phi, d, pi, A), exact.natural_gradient(phi, d, pi, A)
    by_loops = sum(d[s] * pi[s, a] * np.outer(phi[s, a], phi[s, a]) for s, a in np.ndindex(6, 3))
    assert_allclose(F, by_loops, atol=1e-14)
    assert jnp.linalg.matrix_rank(F) == 5
    assert_allclose(F @ x, g, atol=1e-10)
    assert_allclose(x, jnp.linalg.lstsq(F, g)[0], atol=1e-8)


def test_three_state_chain_by_hand():
    mdp, right = chain(3, slip=0.0), jnp.array([[0.0, 1.0]] * 3)
    assert_allclose(exact.value(mdp, right, GAMMA), [GAMMA**2, GAMMA, 1])
    visitation = exact.discounted_visitation(mdp, right, GAMMA)
    assert_allclose(visitation, (1 - GAMMA) * np.array([1, GAMMA, GAMMA**2]))
    # Where nothing terminates, state 2 goes on earning 1 for ever.
    endless = type(mdp)(P=mdp.P, r=mdp.r, d0=mdp.d0, terminates=jnp.zeros_like(mdp.terminates))
    assert_allclose(exact.value(endless, right, GAMMA), np.array([GAMMA**2, GAMMA, 1]) / (1 - GAMMA))
    assert_allclose(exact.stationary(endless, right), [0, 0, 1], atol=1e-12)


def test_the_type_follows_the_inputs(mdp, pi):
    mdp, pi = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), (mdp, pi))
    for answer in (
        exact.stationary(mdp, pi),
        exact.discounted_visitation(mdp, pi, GAMMA),
        exact.advantage(mdp, pi, GAMMA),
        exact.objective(mdp, pi, GAMMA),
    ):
        assert answer.dtype == jnp.float32


def test_sample_has_the_distribution_it_was_asked_for(mdp, pi):
    n, d = 50_000, exact.stationary(mdp, pi)
    batch = exact.sample(jax.random.key(0), mdp, d, pi, n)
    s, s_next = batch.observation.argmax(axis=1), batch.next_observation.argmax(axis=1)
    joint = jnp.zeros((6, 3, 6)).at[s, batch.action, s_next].add(1 / n)
    expected = d[:, None, None] * pi[:, :, None] * mdp.P
    assert jnp.max(jnp.abs(joint - expected) / jnp.sqrt(expected / n + 1 / n**2)) < 5
    assert_allclose(batch.behaviour_prob, pi[s, batch.action])
    assert_allclose(batch.reward, mdp.r[s, batch.action])
    assert jnp.array_equal(batch.terminated, mdp.terminates[s, batch.action, s_next])
    assert not batch.truncated.any()
    assert set(batch.step.tolist()) == {1}


@pytest.mark.parametrize(
    "mdp",
    [random_mdp(jax.random.key(3), 6, 3, termination=0.1), gridworld(2, 3)],
    ids=lambda m: m.name,
)
def test_simulated_returns_agree_with_the_value(mdp):
    states, actions = mdp.r.shape
    pi, n = jnp.full((states, actions), 1 / actions), 4_000

    def step(carry, key):
        state, alive, discount = carry
        key_a, key_s = jax.random.split(key)
        action = jax.random.randint(key_a, (), 0, actions)
        state, _, reward, terminated, _ = mdp.step(state, action, key_s)
        return (state, alive & ~terminated, GAMMA * discount), alive * discount * reward

    def episode(key):
        key_start, key_steps = jax.random.split(key)
        start = mdp.reset(key_start)[0], True, 1.0
        return jax.lax.scan(step, start, jax.random.split(key_steps, 120))[1].sum()

    returns = jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(1), n))
    J = exact.objective(mdp, pi, GAMMA)
    assert abs((1 - GAMMA) * returns.mean() - J) < 4 * (1 - GAMMA) * returns.std() / np.sqrt(n) + 1e-6


@pytest.mark.parametrize(
    "mdp", [random_mdp(jax.random.key(3), 6, 3), chain(6), gridworld(2, 3)], ids=lambda m: m.name
)
def test_constructors_give_distributions_in_which_every_state_is_visited(mdp):
    states, actions = mdp.r.shape
    assert_allclose(mdp.P.sum(axis=-1), 1, atol=1e-6)
    assert_allclose(mdp.d0.sum(), 1, atol=1e-6)
    assert exact.stationary(mdp, jnp.full((states, actions), 1 / actions)).min() > 1e-4
