"""Σ_a π(a|s) φ(s,a) = 0 for every s, also where the policy saturates."""

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from offnac import compatible
from offnac.networks import MLP, size
from offnac.policy import SoftmaxPolicy
from offnac.transition import Transition

NETWORKS = [
    MLP(3, (), 2, bias=False),
    MLP(3, (4,), 3, bias=False),
    MLP(1, (1,), 5),
    MLP(2, (3, 2), 4, activation="relu"),
]


@jax.jit
def pi_and_phi(policy, theta, observation):
    """π(a|s) and φ(s,a) for every row s and every a."""
    pi = jnp.exp(policy.log_probabilities(theta, observation))
    states, actions = pi.shape
    s, a = (i.ravel() for i in jnp.indices((states, actions)))
    rows = Transition(observation[s], a, *[None] * 6)
    return pi, compatible.features(policy, theta, rows).reshape(states, actions, -1)


@st.composite
def actors(draw):
    network = draw(st.sampled_from(NETWORKS))
    scale = draw(st.sampled_from([0.1, 1.0, 10.0, 1e4]))
    numbers = st.floats(-scale, scale)
    return network, draw(arrays(float, size(network), elements=numbers)), draw(st.integers(0, 9))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(actors())
def test_sum_of_pi_phi_is_zero(actor):
    network, theta, seed = actor
    observation = np.random.default_rng(seed).normal(size=(4, network.inputs))
    pi, phi = pi_and_phi(SoftmaxPolicy(network), jnp.asarray(theta), observation)
    assert jnp.isfinite(phi).all()
    assert jnp.abs(jnp.einsum("sa,sak->sk", pi, phi)).max() <= 1e-13 * (1.0 + jnp.abs(phi).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_of_a_saturated_policy_are_exact(dtype):
    """φ(s,a) = (e_a − π(·|s)) sᵀ of linear logits: nothing is lost where π is one-hot (errata row 22)."""
    network = NETWORKS[0]
    s = np.array([[1.0, -2.0, 0.5]], dtype)
    theta = np.array([1e4, 0.0, 0.0, -1e4, 0.0, 0.0], dtype)
    pi, phi = pi_and_phi(SoftmaxPolicy(network), theta, s)
    assert phi.dtype == dtype
    np.testing.assert_array_equal(pi, [[1.0, 0.0]])
    zero = np.zeros(3)
    expected = [np.concatenate([zero, zero]), np.concatenate([-s[0], s[0]])]
    np.testing.assert_array_equal(phi[0], expected)
    np.testing.assert_array_equal(jnp.einsum("sa,sak->sk", pi, phi), np.zeros((1, 6)))
