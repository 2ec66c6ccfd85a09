"""The networks of the stream presets as matrices whose sizes are powers of two, with their gradients.

How a matrix lies decides what a product with it costs: threads hold pieces of rows, so that a sum along a
row goes through its warp, and a sum along a column stays within a thread until the warps meet. The value
network's matrices lie as (inputs, outputs), for of its four products three are forward ones. The inputs are
padded with zeros, and where there are biases the first zero is a one, whose weights they are.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.networks import MLP, Parameters, module_of
from offnac.training.on_chip.instructions import exp, fused, reciprocal, tanh

Vector = Float[Array, " n"]
Matrix = Float[Array, "n m"]
Number = Float[Array, ""]


class Outer(NamedTuple):
    """u vᵀ: what the gradient of a matrix at one sample is. It is never built: its scaled and its squared
    copy, all that an optimiser needs, are outer products too."""

    u: Vector
    v: Vector

    def times(self, c: Number) -> "Outer":
        return Outer(self.u, c * self.v)

    def squared(self) -> "Outer":
        return Outer(self.u * self.u, self.v * self.v)

    def plus(self, matrix: Matrix) -> Matrix:
        return fused(self.u[:, None], self.v[None, :], matrix)


class Actor(NamedTuple):
    inner: Matrix
    """(outputs, inputs)."""
    outer: Matrix
    """(inputs, outputs), and columns of zeros up to a power of two."""


class Value(NamedTuple):
    inner: Matrix
    middle: Matrix
    bias: Vector
    outer: Vector
    offset: Number


class Ratio(NamedTuple):
    inner: Matrix
    outer: Vector
    offset: Number


Network = Actor | Value | Ratio


def power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()


def width(inputs: int) -> int:
    """Of a padded input: room for the observation and for a one."""
    return power_of_two(inputs + 1)


def _widen(matrix: Matrix, rows: int, columns: int) -> Matrix:
    return jnp.pad(matrix, ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))


def _with_bias(layer: Any, columns: int) -> Matrix:
    return _widen(jnp.column_stack([layer.weight, layer.bias]), layer.weight.shape[0], columns)


def actor(network: MLP, theta: Parameters) -> Actor:
    inner, outer = (layer.weight for layer in module_of(network, theta).layers[::2])
    return Actor(
        _widen(inner, inner.shape[0], width(network.inputs)),
        _widen(outer.T, outer.shape[1], power_of_two(network.outputs)),
    )


def value(network: MLP, psi: Parameters) -> Value:
    inner, middle, outer = module_of(network, psi).layers[::2]
    biased = _with_bias(inner, width(network.inputs)).T
    return Value(biased, middle.weight.T, middle.bias, outer.weight[0], outer.bias[0])


def ratio(network: MLP, parameters: Parameters) -> Ratio:
    inner, outer = module_of(network, parameters).layers[::2]
    return Ratio(_with_bias(inner, width(network.inputs)), outer.weight[0], outer.bias[0])


def flat(network: MLP, padded: Network) -> Parameters:
    """The one vector again."""
    inputs, inner = network.inputs, padded.inner
    if isinstance(padded, Actor):
        parts = [inner[:, :inputs], padded.outer[:, : network.outputs].T]
    elif isinstance(padded, Value):
        parts = [inner[:inputs].T, inner[inputs], padded.middle.T, padded.bias, padded.outer, padded.offset]
    else:
        parts = [inner[:, :inputs], inner[:, inputs], padded.outer, padded.offset]
    return jnp.concatenate([part.ravel() for part in parts])


def vector(numbers: tuple[Number, ...], size: int, first: int = 0) -> Vector:
    """These numbers from position ``first`` on, zeros elsewhere."""
    index = jax.lax.broadcasted_iota(jnp.int32, (size,), 0)
    padded = jnp.zeros((size,), jnp.float32)
    for i, number in enumerate(numbers, first):
        padded = jnp.where(index == i, number, padded)
    return padded


def left(u: Vector, matrix: Matrix) -> Vector:
    """uᵀM."""
    return jnp.sum(matrix * u[:, None], axis=0)


def right(matrix: Matrix, v: Vector) -> Vector:
    """M v."""
    return jnp.sum(matrix * v[None, :], axis=1)


class Acting(NamedTuple):
    """π(·|s), and the hidden layer that it came from."""

    hidden: Vector
    pi: Vector


def act(theta: Actor, s: Vector, actions: int) -> Acting:
    hidden = tanh(right(theta.inner, s))
    logits = left(hidden, theta.outer)
    if actions < logits.shape[0]:
        index = jax.lax.broadcasted_iota(jnp.int32, logits.shape, 0)
        logits = jnp.where(index < actions, logits, -jnp.inf)
    odds = exp(logits - jnp.max(logits))
    return Acting(hidden, odds * reciprocal(jnp.broadcast_to(jnp.sum(odds), odds.shape)))


def features(theta: Actor, s: Vector, acting: Acting, taken: Vector) -> tuple[Outer, Outer]:
    """φ = ∇θ log π(a|s); ``taken`` is one-hot."""
    surprise = taken - acting.pi
    slope = right(theta.outer, surprise) * (1.0 - acting.hidden * acting.hidden)
    return Outer(slope, s), Outer(acting.hidden, surprise)


def advantage(x: Actor, phi: tuple[Outer, Outer]) -> Number:
    """xᵀφ."""
    inner, outer = phi
    return jnp.sum(inner.u * right(x.inner, inner.v)) + jnp.sum(left(outer.u, x.outer) * outer.v)


class Valued(NamedTuple):
    """V(s), and the two hidden layers that it came from."""

    value: Number
    first: Vector
    second: Vector


def judge(psi: Value, s: Vector) -> Valued:
    """V(s); s with its one."""
    first = jnp.maximum(left(s, psi.inner), 0.0)
    second = jnp.maximum(left(first, psi.middle) + psi.bias, 0.0)
    return Valued(jnp.sum(second * psi.outer) + psi.offset, first, second)


def judge_both(psi: Value, s: Vector, next_s: Vector) -> tuple[Valued, Valued]:
    """V at two states, for little more than V at one: a sum costs the time that its warps take to meet."""
    first = [jnp.maximum(one, 0.0) for one in _left_both(s, next_s, psi.inner)]
    second = [jnp.maximum(one + psi.bias, 0.0) for one in _left_both(first[0], first[1], psi.middle)]
    values = _sums(second[0] * psi.outer, second[1] * psi.outer)
    here, there = (Valued(values[i] + psi.offset, first[i], second[i]) for i in range(2))
    return here, there


def _left_both(u: Vector, v: Vector, matrix: Matrix) -> tuple[Vector, Vector]:
    """uᵀM and vᵀM."""
    return _sums(matrix * u[:, None], matrix * v[:, None])


def _sums(a: Array, b: Array) -> tuple[Array, Array]:
    """The sums of both along their first axis, taken at once."""
    both = jnp.sum(jnp.stack([a, b], axis=-1), axis=0)
    index = jax.lax.broadcasted_iota(jnp.int32, both.shape, both.ndim - 1)
    first, second = (jnp.sum(jnp.where(index == i, both, 0.0), axis=-1) for i in range(2))
    return first, second


def value_gradient(psi: Value, s: Vector, valued: Valued, c: Number) -> tuple[Any, ...]:
    """c ∇V(s), in the order of :class:`Value`."""
    second = jnp.where(valued.second > 0.0, c * psi.outer, 0.0)
    first = jnp.where(valued.first > 0.0, right(psi.middle, second), 0.0)
    return Outer(s, first), Outer(valued.first, second), second, c * valued.second, c


def weigh(network: Ratio, s: Matrix) -> Vector:
    """w at rows of observations with their ones, before normalisation."""
    hidden = jnp.sum(s[:, None, :] * network.inner[None, :, :], axis=2)
    hidden = jnp.where(hidden > 0.0, hidden, 0.0)
    log = jnp.sum(hidden * network.outer[None, :], axis=1) + network.offset
    return jnp.exp(jnp.clip(log, -15.0, 15.0))
