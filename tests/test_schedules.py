"""Rates, and the theory's conditions on them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.errors import UserError
from offnac.schedules import Clock, Constant, Cosine, Drops, RobbinsMonro, require_two_timescales


def clock(step=0.0, best=-np.inf):
    return Clock(jnp.float32(step), jnp.float32(best))


def test_constant():
    assert Constant(0.1)(clock(7, 3)) == 0.1


def test_robbins_monro_is_the_formula():
    alpha = RobbinsMonro(0.5, power=0.7, horizon=100.0)
    n = np.array([0, 1, 100, 10_000])
    np.testing.assert_allclose([alpha(clock(i)) for i in n], 0.5 * (1 + n / 100) ** -0.7, rtol=1e-6)


def test_a_cosine_begins_at_its_rate_and_ends_at_0():
    rate = Cosine(0.2, steps=100.0)
    np.testing.assert_allclose([rate(clock(i)) for i in (0, 50, 100, 150)], [0.2, 0.1, 0.0, 0.0], atol=1e-7)


def test_one_over_t_plus_t0():
    """rate 1/t₀ and horizon t₀: α_t = 1/(t + t₀)."""
    np.testing.assert_allclose(RobbinsMonro(1 / 50, 1.0, 50.0)(clock(25)), 1 / 75, rtol=1e-6)


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        (RobbinsMonro(1.0, 0.6), RobbinsMonro(1.0, 1.0)),
        (RobbinsMonro(0.1, 0.51, 1000.0), RobbinsMonro(5.0, 0.52)),
    ],
)
def test_two_timescales_accepted(fast, slow):
    require_two_timescales(fast, slow)
    ratio = [slow(clock(n)) / fast(clock(n)) for n in (1e3, 1e6, 1e9)]
    assert ratio[0] > ratio[1] > ratio[2]


@pytest.mark.parametrize(
    ("fast", "slow", "says"),
    [
        (RobbinsMonro(1.0, 0.5), RobbinsMonro(1.0, 1.0), "critics'"),  # Σα² diverges
        (RobbinsMonro(1.0, 0.6), RobbinsMonro(1.0, 1.1), "actor's"),  # Σβ converges
        (Constant(0.1), RobbinsMonro(1.0, 1.0), "critics'"),
        (RobbinsMonro(1.0, 0.6), Drops(0.1, ()), "actor's"),
        (RobbinsMonro(1.0, 0.8), RobbinsMonro(1e-6, 0.8), "larger power"),  # β/α does not vanish
        (RobbinsMonro(1.0, 1.0), RobbinsMonro(1.0, 0.6), "larger power"),  # the actor is the fast one
    ],
)
def test_two_timescales_refused(fast, slow, says):
    with pytest.raises(UserError, match=says) as caught:
        require_two_timescales(fast, slow)
    assert "\n" not in str(caught.value)


def test_drops_follow_the_best_average():
    """Bands are [low, high); between and outside them the rate is the first one."""
    beta = Drops(1e-2, ((100.0, 150.0, 1e-3), (180.0, np.inf, 1e-5)))
    best = [-np.inf, 99.9, 100.0, 149.9, 150.0, 179.9, 180.0, 500.0]
    rates = [beta(clock(best=b)) for b in best]
    np.testing.assert_allclose(rates, [1e-2, 1e-2, 1e-3, 1e-3, 1e-2, 1e-2, 1e-5, 1e-5], rtol=1e-6)


def test_a_changed_number_does_not_recompile():
    programs = []

    @jax.jit
    def rate(schedule, now):
        programs.append(schedule)
        return schedule(now)

    for schedule in (RobbinsMonro(1.0), RobbinsMonro(0.5, 0.6, 10.0), RobbinsMonro(0.1)):
        rate(schedule, clock(3))
    assert len(programs) == 1
    for schedule in (Drops(1.0, ((0.0, 1.0, 0.1),)), Drops(0.5, ((2.0, 3.0, 0.2),))):
        rate(schedule, clock(3))
    assert len(programs) == 2
