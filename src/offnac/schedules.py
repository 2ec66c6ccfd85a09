"""How a rate changes while learning goes on.

A schedule maps the :class:`Clock` to a rate. ``Constant`` and ``Drops`` serve
the paper's and the published settings, ``RobbinsMonro`` the theory, ``Cosine`` a fit that comes to an end.
"""

from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from offnac.errors import UserError
from offnac.settings import settings


class Clock(NamedTuple):
    """What a schedule may look at."""

    step: Int[Array, ""]
    """Training steps (updates) so far: the n of α_n, β_n."""
    best: Float[Array, ""]
    """The best running average of the return so far."""

    @classmethod
    def start(cls) -> "Clock":
        return cls(jnp.int32(0), jnp.float32(-jnp.inf))


class Schedule(Protocol):
    def __call__(self, clock: Clock) -> Float[Array, ""] | float: ...


@settings
class Constant:
    rate: float

    def __call__(self, clock: Clock) -> float:
        return self.rate


@settings
class RobbinsMonro:
    """rate · (1 + n / horizon)^(−power): the step sizes of stochastic approximation."""

    rate: float
    power: float = 1.0
    horizon: float = 1.0

    def __call__(self, clock: Clock) -> Float[Array, ""]:
        return self.rate * (1.0 + clock.step / self.horizon) ** -self.power


@settings
class Cosine:
    """rate · (1 + cos(π n / steps)) / 2: fast at first, and in the end 0, for a fit of so many steps."""

    rate: float
    steps: float

    def __call__(self, clock: Clock) -> Float[Array, ""]:
        return 0.5 * self.rate * (1.0 + jnp.cos(jnp.pi * jnp.minimum(clock.step / self.steps, 1.0)))


@settings
class Drops:
    """The published schedule: another rate while the best running average is in a band [low, high)."""

    rate: float
    bands: tuple[tuple[float, float, float], ...]
    """(low, high, rate in the band)."""

    def __call__(self, clock: Clock) -> Float[Array, ""]:
        rate = jnp.float32(self.rate)
        for low, high, dropped in self.bands:
            rate = jnp.where((clock.best >= low) & (clock.best < high), dropped, rate)
        return rate


def require_two_timescales(fast: Schedule, slow: Schedule) -> None:
    """Refuse a pair that breaks the paper's conditions on α_n (critics) and β_n (actor):
    both sums diverge, the sum of squares converges, β_n/α_n → 0."""
    for role, schedule in (("critics'", fast), ("actor's", slow)):
        if not isinstance(schedule, RobbinsMonro) or not 0.5 < schedule.power <= 1.0:
            raise UserError(
                f"the theory preset needs Robbins-Monro rates with a power in (1/2, 1], but the {role} "
                f"rate is {schedule}; use such a rate, or another preset"
            )
    assert isinstance(fast, RobbinsMonro) and isinstance(slow, RobbinsMonro)
    if not slow.power > fast.power:
        raise UserError(
            "the theory preset needs the actor's rate to vanish against the critics' (β_n/α_n → 0), but "
            f"their powers are {slow.power} and {fast.power}; give the actor the larger power"
        )
