"""Plain steps and Adam, both uphill."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from offnac.optimisers import SGD, Adam
from offnac.schedules import Clock, Constant, RobbinsMonro


def test_sgd_is_rate_times_direction():
    alpha = RobbinsMonro(0.5)
    optimiser, g = SGD(alpha), jnp.array([1.0, -2.0])
    for n in range(3):
        now = Clock(jnp.float32(n), jnp.float32(0.0))
        _, step = optimiser.update(optimiser.init(g), g, now)
        np.testing.assert_allclose(step, 0.5 / (1 + n) * g, rtol=1e-6)


@pytest.mark.parametrize("hyper", [{}, {"b1": 0.5, "b2": 0.9, "eps": 1e-3}])
def test_adam_is_optax_adam_uphill(hyper):
    ours, theirs = Adam(Constant(0.01), **hyper), optax.adam(0.01, **hyper)
    a = b = jnp.array([1.0, -1.0, 0.5])
    a_state, b_state = ours.init(a), theirs.init(b)
    rng = np.random.default_rng(0)
    for _ in range(20):
        ascent = jnp.asarray(rng.normal(size=3), jnp.float32)
        a_state, step = ours.update(a_state, ascent, Clock.start())
        a = a + step
        updates, b_state = theirs.update(-ascent, b_state, b)
        b = optax.apply_updates(b, updates)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_first_adam_step_is_the_rate_in_every_direction():
    """Hence no natural gradient any more (errata row 8)."""
    optimiser = Adam(Constant(0.01))
    g = jnp.array([1e-3, -5.0, 20.0])
    _, step = optimiser.update(optimiser.init(g), g, Clock.start())
    np.testing.assert_allclose(step, 0.01 * np.sign(g), rtol=1e-4)


@pytest.mark.parametrize("optimiser", [SGD(Constant(0.1)), Adam(Constant(0.1))])
def test_both_climb(optimiser):
    """The top of −‖y − 3‖²/2 is found."""

    def step(carry, _):
        y, state = carry
        state, move = optimiser.update(state, 3.0 - y, Clock.start())
        return (y + move, state), None

    y = jnp.zeros(2)
    (y, _), _ = jax.lax.scan(step, (y, optimiser.init(y)), length=500)
    np.testing.assert_allclose(y, 3.0, atol=1e-2)


def test_adam_follows_its_schedule():
    optimiser, g = Adam(RobbinsMonro(0.5, power=1.0)), jnp.ones(1)
    _, step = optimiser.update(optimiser.init(g), g, Clock(jnp.float32(4.0), jnp.float32(0.0)))
    np.testing.assert_allclose(step, 0.1, rtol=1e-4)


def test_precision_is_kept():
    for optimiser in (SGD(Constant(0.1)), Adam(Constant(0.1)), Adam(RobbinsMonro(0.1))):
        g = jnp.ones(2, jnp.float32)
        assert optimiser.update(optimiser.init(g), g, Clock.start())[1].dtype == jnp.float32
