"""Neural networks as functions of one flat parameter vector.

Any equinox module will do: a network is a frozen settings object with
``build(key) -> equinox module``; :func:`initialise` and :func:`evaluate` turn
it into θ and f(θ, s). The flat vector keeps every update a handful of fused
vector operations; the module keeps every architecture open.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.settings import settings, static

Parameters = Float[Array, " k"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "silu": jax.nn.silu,
}
OUTPUTS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda y: y,
    # A ratio's scale drifts under a scale-free loss (errata row 23); it must not drift out of float32.
    "exp": lambda y: jnp.exp(jnp.clip(y, -15.0, 15.0)),
    "softplus": jax.nn.softplus,
}


class Network(Protocol):
    """Hashable settings from which a module is built."""

    def build(self, key: PRNGKeyArray) -> eqx.Module: ...


@settings
class MLP:
    """A multilayer perceptron, weights from uniform(±1/√fan_in) as in the published experiments, or
    orthogonal, or the former with a last layer of zeros: a policy that starts uniform."""

    inputs: int = static()
    hidden: tuple[int, ...] = static()
    outputs: int = static()
    activation: str = static(default="tanh")
    bias: bool = static(default=True)
    output: str = static(default="linear")
    initialisation: str = static(default="fan_in")

    def build(self, key: PRNGKeyArray) -> eqx.Module:
        sizes = (self.inputs, *self.hidden, self.outputs)
        keys = jax.random.split(key, len(sizes) - 1)
        layers: list[Any] = []
        for fan_in, fan_out, layer_key in zip(sizes[:-1], sizes[1:], keys, strict=True):
            linear = eqx.nn.Linear(fan_in, fan_out, use_bias=self.bias, key=layer_key)
            if self.initialisation == "orthogonal":
                weight = jax.nn.initializers.orthogonal()(layer_key, linear.weight.shape, linear.weight.dtype)
                linear = eqx.tree_at(lambda layer: layer.weight, linear, weight)
            layers += [linear, eqx.nn.Lambda(ACTIVATIONS[self.activation])]
        if self.initialisation == "zero":
            layers[-2] = jax.tree.map(jnp.zeros_like, layers[-2])
        layers[-1] = eqx.nn.Lambda(OUTPUTS[self.output])
        return eqx.nn.Sequential(layers)


def initialise(network: Network, key: PRNGKeyArray) -> Parameters:
    """Draw the network's parameters, as one vector."""
    return ravel_pytree(eqx.filter(network.build(key), eqx.is_inexact_array))[0]


@lru_cache(maxsize=256)
def _structure(network: Network, x64: bool) -> tuple[Any, Any, int]:
    """(shapes of the arrays, everything else) of the network's module."""
    del x64  # part of the key only: it decides the arrays' type
    module = eqx.filter_eval_shape(network.build, jax.random.key(0))
    arrays, rest = eqx.partition(module, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    return arrays, rest, sum(leaf.size for leaf in jax.tree.leaves(arrays))


def structure(network: Network) -> tuple[Any, Any, int]:
    """What the network's module is made of; arrays as shapes."""
    settings: Any = network
    return _structure(settings, jnp.zeros(()).dtype.itemsize == 8)


def size(network: Network) -> int:
    """k, the number of parameters."""
    return structure(network)[2]


def module_of(network: Network, parameters: Parameters) -> Any:
    """The equinox module with these parameters."""
    arrays, rest, _ = structure(network)
    leaves, tree = jax.tree.flatten(arrays)
    # A split, not slices: its transpose is one concatenation instead of a sum of padded vectors.
    pieces = jax.lax.split(parameters, [leaf.size for leaf in leaves])
    filled = [piece.reshape(leaf.shape) for piece, leaf in zip(pieces, leaves, strict=True)]
    return eqx.combine(jax.tree.unflatten(tree, filled), rest)


def evaluate(
    network: Network, parameters: Parameters, observations: Float[Array, "n d"]
) -> Float[Array, "n m"]:
    """f(θ, s) for a batch of observations."""
    return jax.vmap(module_of(network, parameters))(observations)
