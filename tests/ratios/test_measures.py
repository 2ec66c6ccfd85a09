"""‖ν‖² with and without the pairs of a draw with itself."""

import jax
import jax.numpy as jnp
import pytest

from offnac.ratios.measures import Sample, squared_norm
from offnac.ratios.rbf import Fixed


def draws(key, n):
    a, b = jax.random.split(key)
    return Sample(jnp.full(n, 1 / n), jax.random.normal(a, (n, 2)) + 0.3, jax.random.normal(b, (n, 2, 1)))


def norm(samples, unbiased):
    return squared_norm(samples, Fixed(1.0).kernel(None), unbiased)


def test_the_u_statistic_is_unbiased():
    population = float(norm([draws(jax.random.key(0), 2000)], False))
    keys = jax.random.split(jax.random.key(1), 10_000)
    small = {
        unbiased: jax.jit(jax.vmap(lambda k, u=unbiased: norm([draws(k, 4)], u)))(keys)
        for unbiased in (False, True)
    }
    assert small[True].mean() == pytest.approx(population, abs=0.02)
    assert small[False].mean() > population + 0.2


def test_samples_add_up():
    p, q = draws(jax.random.key(0), 5), draws(jax.random.key(1), 3)
    both = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), p, q)
    assert norm([p, q], False) == pytest.approx(float(norm([both], False)))


def test_a_lone_draw_keeps_its_own_pair():
    lone = draws(jax.random.key(0), 1)
    assert norm([lone], True) == norm([lone], False) > 0
