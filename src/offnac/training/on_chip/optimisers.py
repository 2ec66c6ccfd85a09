"""The steps of :mod:`offnac.optimisers` over padded networks.

A matrix's gradient may come as an outer product, and Adam's divisions by a single number are taken out of the
loop over parameters.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.lax import rsqrt
from jaxtyping import Array, Float, Int

from offnac.optimisers import Adam
from offnac.schedules import Clock
from offnac.training.on_chip.instructions import fused, reciprocal, root
from offnac.training.on_chip.networks import Outer


class Moments(NamedTuple):
    """Adam's; how often it has stepped is known elsewhere."""

    first: Any
    second: Any


class Grown(NamedTuple):
    """1 − bᵢⁿ of Adam's moments after n steps: by so much they are too small."""

    first: Float[Array, ""]
    second: Float[Array, ""]


def grown(optimiser: Adam, steps: Int[Array, ""]) -> Grown:
    n = steps.astype(jnp.float32)
    # Not by a power, whose rounding near 1 would be most of the difference.
    return Grown(-jnp.expm1(n * jnp.log(optimiser.b1)), -jnp.expm1(n * jnp.log(optimiser.b2)))


def grown_further(optimiser: Adam, grown: Grown) -> Grown:
    """The same one step later, without a logarithm: that takes a kernel dozens of instructions."""
    b1, b2 = optimiser.b1, optimiser.b2
    return Grown(b1 * grown.first + (1.0 - b1), b2 * grown.second + (1.0 - b2))


def move(
    optimiser: Any,
    moments: Moments | None,
    parameters: Any,
    ascent: Any,
    grown: Grown,
    clock: Clock,
) -> tuple[Moments | None, Any]:
    """A step along the ascent direction, whose members may be :class:`Outer`."""
    network, rate = type(parameters), optimiser.rate(clock)
    if not isinstance(optimiser, Adam):
        return None, network(*(_add(_times(g, rate), p) for p, g in zip(parameters, ascent, strict=True)))
    assert moments is not None
    b1, b2, rate = optimiser.b1, optimiser.b2, rate / grown.first
    unbiased = rsqrt(grown.second)
    first, second, after = [], [], []
    for p, m, v, g in zip(parameters, moments.first, moments.second, ascent, strict=True):
        m, v = _add(_times(g, 1.0 - b1), b1 * m), _add(_times(_squared(g), 1.0 - b2), b2 * v)
        divisor = fused(unbiased, root(v), optimiser.eps)
        first.append(m)
        second.append(v)
        after.append(fused(rate, m * reciprocal(divisor), p))
    return Moments(network(*first), network(*second)), network(*after)


def _times(gradient: Any, c: Any) -> Any:
    return gradient.times(c) if isinstance(gradient, Outer) else c * gradient


def _squared(gradient: Any) -> Any:
    return gradient.squared() if isinstance(gradient, Outer) else gradient * gradient


def _add(gradient: Any, to: Array) -> Array:
    return gradient.plus(to) if isinstance(gradient, Outer) else gradient + to
