"""Networks as functions of one flat vector."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.networks import MLP, evaluate, initialise, module_of, size


@pytest.mark.parametrize(
    ("network", "k"),
    [
        (MLP(4, (), 2, bias=False), 8),
        (MLP(4, (16,), 2, bias=False), 96),  # CartPole's actor
        (MLP(4, (64, 64), 1), 4 * 64 + 64 + 64 * 64 + 64 + 64 + 1),
    ],
)
def test_size(network, k):
    assert size(network) == k == initialise(network, jax.random.key(0)).size


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("output", ["linear", "exp", "softplus"])
def test_evaluation_equals_the_formula(activation, output):
    network = MLP(3, (5, 4), 2, activation=activation, output=output)
    theta = initialise(network, jax.random.key(0))
    s = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    shapes = [(5, 3), (5,), (4, 5), (4,), (2, 4), (2,)]
    pieces = np.split(np.asarray(theta), np.cumsum([np.prod(shape) for shape in shapes])[:-1])
    W1, b1, W2, b2, W3, b3 = (piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True))
    act = {"tanh": np.tanh, "relu": lambda y: np.maximum(y, 0.0)}[activation]
    out = {"linear": lambda y: y, "exp": np.exp, "softplus": lambda y: np.log1p(np.exp(y))}[output]
    expected = out(act(act(s @ W1.T + b1) @ W2.T + b2) @ W3.T + b3)
    np.testing.assert_allclose(evaluate(network, theta, s), expected, rtol=1e-5, atol=1e-6)


def test_module_and_vector_are_the_same_network():
    network = MLP(3, (5,), 2)
    module = network.build(jax.random.key(4))
    theta = initialise(network, jax.random.key(4))
    rebuilt = module_of(network, theta)
    assert eqx.tree_equal(eqx.filter(rebuilt, eqx.is_array), eqx.filter(module, eqx.is_array))
    s = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(evaluate(network, theta, s), jax.vmap(module)(s), rtol=1e-6)


def test_published_initialisation_is_uniform_in_the_root_of_fan_in():
    theta = np.asarray(initialise(MLP(16, (400,), 100), jax.random.key(0)))
    for layer, fan_in in zip(np.split(theta, [400 * 17]), (16, 400), strict=True):
        limit = fan_in**-0.5
        assert np.abs(layer).max() <= limit
        np.testing.assert_allclose(np.abs(layer).max(), limit, rtol=1e-2)
        np.testing.assert_allclose(layer.std(), limit / 3**0.5, rtol=3e-2)


def test_orthogonal_initialisation():
    network = MLP(6, (6,), 3, bias=False, initialisation="orthogonal")
    W1, W2 = (
        layer.weight for layer in module_of(network, initialise(network, jax.random.key(0))).layers[::2]
    )
    np.testing.assert_allclose(W1 @ W1.T, np.eye(6), atol=1e-5)
    np.testing.assert_allclose(W2 @ W2.T, np.eye(3), atol=1e-5)


def test_precision_follows_jax():
    network = MLP(3, (5,), 2)
    assert initialise(network, jax.random.key(0)).dtype == jnp.float32
    with jax.enable_x64(True):
        theta = initialise(network, jax.random.key(0))
        assert theta.dtype == evaluate(network, theta, jnp.ones((1, 3))).dtype == jnp.float64
    assert evaluate(network, initialise(network, jax.random.key(0)), jnp.ones((1, 3))).dtype == jnp.float32


def test_network_settings_are_part_of_the_program():
    """Equal settings share one compiled program; different ones do not mix."""
    assert hash(MLP(3, (5,), 2)) == hash(MLP(3, (5,), 2))
    assert MLP(3, (5,), 2) != MLP(3, (5,), 2, bias=False)
    assert jax.tree.leaves(MLP(3, (5,), 2)) == []
