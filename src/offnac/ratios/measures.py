"""Signed measures made of atoms, and their norm in a kernel's space.

Every ratio loss is linear in its test function f, L(w, f) = ∫ f dν, so the
largest L² over the unit ball of the kernel's space is ‖ν‖² = ∬ k dν dν: the
closed form of D(w) (paper, supplementary, eq. 11).
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import vmap
from jaxtyping import Array, Float

from offnac.ratios.rbf import KernelFunction


class Sample(NamedTuple):
    """Σ mass_i ν_i of independent random measures ν_i = Σ_k coefficient[i, k] δ(point[i, k])."""

    mass: Float[Array, " n"]
    coefficient: Float[Array, "n k"]
    point: Float[Array, "n k d"]


def inner(p: Sample, q: Sample, kernel: KernelFunction) -> Float[Array, ""]:
    def flat(sample: Sample) -> tuple[Array, Array]:
        points = sample.point.reshape(-1, sample.point.shape[-1])
        return (sample.mass[:, None] * sample.coefficient).ravel(), points

    (a, x), (b, y) = flat(p), flat(q)
    return a @ kernel(x, y) @ b


def own_pairs(p: Sample, kernel: KernelFunction) -> Float[Array, ""]:
    """Σ mass_i² ‖ν_i‖²."""
    return (p.mass**2 * vmap(lambda c, x: c @ kernel(x, x) @ c)(p.coefficient, p.point)).sum()


def squared_norm(samples: Sequence[Sample], kernel: KernelFunction, unbiased: bool) -> Float[Array, ""]:
    """‖Σν‖² over independent samples: with every pair (V-statistic), or without a draw's pair with itself."""
    total = jnp.zeros(())
    for i, p in enumerate(samples):
        square = inner(p, p, kernel)
        if unbiased:
            others = 1.0 - (p.mass**2).sum() / jnp.maximum(p.mass.sum() ** 2, jnp.finfo(p.mass.dtype).tiny)
            alone = others < 10 * jnp.finfo(p.mass.dtype).eps  # nothing to pair with: its own pair stands
            square = jnp.where(alone, square, (square - own_pairs(p, kernel)) / jnp.where(alone, 1.0, others))
        total += square + 2.0 * sum(inner(p, q, kernel) for q in samples[i + 1 :])
    return total
