"""What the GPU's instructions stand for, and when they are taken."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.training.on_chip import instructions
from offnac.training.on_chip.instructions import compiled

NUMBERS = jnp.array([1e-4, 0.3, 1.0, 7.5], jnp.float32)
ONE = {"root": np.sqrt, "reciprocal": np.reciprocal, "exp": np.exp, "tanh": np.tanh}


@pytest.mark.parametrize("name", ONE)
def test_written_out_they_are_the_functions(name):
    found = getattr(instructions, name)(NUMBERS)
    np.testing.assert_allclose(found, ONE[name](np.asarray(NUMBERS, np.float64)), rtol=1e-6, atol=2e-7)


def test_a_fused_product_is_broadcast():
    found = instructions.fused(NUMBERS[:, None], NUMBERS[None, :], 1.0)
    np.testing.assert_allclose(found, np.outer(NUMBERS, NUMBERS) + 1.0, rtol=1e-6)


def test_only_arrays_of_a_compiled_kernel_take_them():
    def text(number):
        return str(jax.make_jaxpr(lambda a: instructions.fused(a, a, 1.0))(number))

    assert "fma" not in text(NUMBERS)
    with compiled(True):
        assert "fma.rn.ftz.f32 $0, $1, $2, $3;" in text(NUMBERS)
        assert "fma" not in text(NUMBERS[0])
    assert "fma" not in text(NUMBERS)
