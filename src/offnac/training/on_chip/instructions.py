"""Instructions of a GPU that the kernel's compiler does not choose by itself.

It fuses no product with a sum, and spends several instructions on each root, quotient and exponential to be
right below 1e-38 too, which nothing here depends on. Where a kernel is interpreted, and for single numbers,
the same is written out.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

LOG2_E = np.float32(np.log2(np.e))

_compiled: ContextVar[bool] = ContextVar("compiled", default=False)


@contextmanager
def compiled(yes: bool) -> Iterator[None]:
    """Whether the kernel that is traced within will be compiled for a GPU."""
    token = _compiled.set(yes)
    try:
        yield
    finally:
        _compiled.reset(token)


def fused(a: Any, b: Any, c: Any) -> Float[Array, "..."]:
    """a·b + c."""
    return _instruction("fma.rn.ftz.f32", lambda a, b, c: a * b + c, a, b, c)


def root(a: Float[Array, "..."]) -> Float[Array, "..."]:
    return _instruction("sqrt.approx.ftz.f32", jnp.sqrt, a)


def reciprocal(a: Float[Array, "..."]) -> Float[Array, "..."]:
    return _instruction("rcp.approx.ftz.f32", lambda a: 1.0 / a, a)


def exp(a: Float[Array, "..."]) -> Float[Array, "..."]:
    return _instruction("ex2.approx.ftz.f32", jnp.exp2, LOG2_E * a)


def tanh(a: Float[Array, "..."]) -> Float[Array, "..."]:
    """Right to about 1e-7, and not to as much of what is small."""
    return 1.0 - 2.0 * reciprocal(1.0 + exp(2.0 * a))


def _instruction(name: str, plain: Callable[..., Array], *given: Any) -> Array:
    shape = jnp.broadcast_shapes(*(jnp.shape(one) for one in given))
    if not _compiled.get() or not shape:
        return plain(*given)
    operands = ", ".join(f"${i}" for i in range(len(given) + 1))
    [result] = triton.elementwise_inline_asm(
        f"{name} {operands};",
        args=[jnp.broadcast_to(jnp.asarray(one, jnp.float32), shape) for one in given],
        constraints="=f" + ",f" * len(given),
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(shape, jnp.float32)],
    )
    return result
