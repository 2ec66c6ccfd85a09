"""The steps of :mod:`offnac.optimisers` over padded networks.

A matrix's gradient may come as an outer product. Adam's divisions by a single number are taken out of the
loop over parameters, and its root and its quotient are made of the reciprocal root, one instruction of a GPU.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.lax import rsqrt
from jaxtyping import Array, Float, Int

from offnac.optimisers import Adam, Optimiser
from offnac.schedules import Clock
from offnac.training.on_chip.networks import Outer

TINY = np.float32(1e-30)
"""Far below Adam's eps², so that a root of 0 is 0."""


class Moments(NamedTuple):
    """Adam's; how often it has stepped is known elsewhere."""

    first: Any
    second: Any


class Grown(NamedTuple):
    """1 − bᵢⁿ of Adam's moments after n steps: by so much they are too small."""

    first: Float[Array, ""]
    second: Float[Array, ""]


def grown(optimiser: Optimiser, steps: Int[Array, ""]) -> Grown | None:
    if not isinstance(optimiser, Adam):
        return None
    n = steps.astype(jnp.float32)
    # Not by a power, whose rounding near 1 would be most of the difference.
    return Grown(-jnp.expm1(n * jnp.log(optimiser.b1)), -jnp.expm1(n * jnp.log(optimiser.b2)))


def move(
    optimiser: Any,
    moments: Moments | None,
    parameters: Any,
    ascent: Any,
    grown: Grown | None,
    clock: Clock,
) -> tuple[Moments | None, Any]:
    """A step along the ascent direction, whose members may be :class:`Outer`."""
    network, rate = type(parameters), optimiser.rate(clock)
    if not isinstance(optimiser, Adam):
        return None, network(*(_add(_times(g, rate), p) for p, g in zip(parameters, ascent, strict=True)))
    assert moments is not None and grown is not None
    b1, b2, rate = optimiser.b1, optimiser.b2, rate / grown.first
    unbiased = rsqrt(grown.second)
    first, second, after = [], [], []
    for p, m, v, g in zip(parameters, moments.first, moments.second, ascent, strict=True):
        m, v = _add(_times(g, 1.0 - b1), b1 * m), _add(_times(_squared(g), 1.0 - b2), b2 * v)
        divisor = unbiased * (v * rsqrt(v + TINY)) + optimiser.eps
        first.append(m)
        second.append(v)
        after.append(p + rate * (m * rsqrt(divisor * divisor)))
    return Moments(network(*first), network(*second)), network(*after)


def _times(gradient: Any, c: Any) -> Any:
    return gradient.times(c) if isinstance(gradient, Outer) else c * gradient


def _squared(gradient: Any) -> Any:
    return gradient.squared() if isinstance(gradient, Outer) else gradient * gradient


def _add(gradient: Any, to: Array) -> Array:
    return gradient.plus(to) if isinstance(gradient, Outer) else gradient + to
