"""The numbers to watch."""

import jax.numpy as jnp
import pytest

from offnac.ratios import describe, effective_sample_size


def test_effective_sample_size():
    assert effective_sample_size(jnp.full(5, 2.0)) == pytest.approx(1.0)
    assert effective_sample_size(jnp.array([0.0, 0.0, 7.0, 0.0])) == pytest.approx(1 / 4)
    assert effective_sample_size(jnp.array([1.0, 3.0, 99.0]), jnp.array([1.0, 1.0, 0.0])) == pytest.approx(
        0.8
    )
    assert effective_sample_size(jnp.zeros(3)) == 0


def test_describe():
    w, rho = jnp.arange(1.0, 201.0), jnp.full(200, 0.5)
    info = describe(w, rho, jnp.ones(200), 0.25)
    assert [info.mean, info.tail, info.largest, info.loss] == pytest.approx([100.5, 99.0, 100.0, 0.25])
    half = describe(w, rho, (w <= 100).astype(float), 0.0)
    assert [half.mean, half.tail, half.largest] == pytest.approx([50.5, 49.5, 50.0])
