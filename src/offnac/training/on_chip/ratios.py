"""The published ratio update (:func:`offnac.ratios.kernel.published`) over padded rows.

The rows' s′ and, after them, the episode's s₀ are the atoms of one signed measure ν; D(w) = ‖ν‖².
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from offnac.actor_critic import ActorCritic
from offnac.environments.gymnax import GymnaxEnvironment
from offnac.optimisers import Adam
from offnac.schedules import Clock
from offnac.training.on_chip import moment as moments
from offnac.training.on_chip.learner import RatioState
from offnac.training.on_chip.moment import Moment, advance, choose_evenly, one_hot
from offnac.training.on_chip.networks import (
    Matrix,
    Number,
    Ratio,
    Vector,
    act,
    power_of_two,
    weigh,
    width,
)
from offnac.training.on_chip.numbers import uniform
from offnac.training.on_chip.optimisers import grown, move

KEPT = 1 << 20
"""Numbers from this one on say which rows of a rollout are kept."""
TINY = np.float32(1e-30)
"""Where no row is kept, a size of 0 and not of 0/0."""


class Rows(NamedTuple):
    """The first steps of a rollout of μ, padded; s and s′ with their ones."""

    s: Matrix
    atoms: Matrix
    """s′ of each row, and s₀ after the last of them."""
    rho: Vector
    there: Vector
    """1 where the rollout got so far."""
    kept: Vector
    """1 for rows kept with probability γ^(t+1)."""


def estimate(
    environment: GymnaxEnvironment, algorithm: ActorCritic, learner: Any, first: Moment, steps: int
) -> tuple[Any, Number]:
    """Step 8 of Algorithm 2, and the effective sample size of wρ after it."""
    rows = roll_out(environment, algorithm, learner, first, steps)
    estimators: Any = (algorithm.ratios.w_hat, algorithm.ratios.w)
    w_hat, w = (
        update(estimator.form, estimator.optimiser, state, rows, steps, learner.clock)
        for estimator, state in zip(estimators, learner.ratios, strict=True)
    )
    return learner._replace(ratios=(w_hat[0], w[0])), w[1]


def roll_out(
    environment: GymnaxEnvironment, algorithm: ActorCritic, learner: Any, first: Moment, steps: int
) -> Rows:
    """The first steps of a rollout of μ."""
    actions, columns = environment.spec.actions, width(environment.spec.observation_size)
    room = power_of_two(steps + 1)
    row = jax.lax.broadcasted_iota(jnp.int32, (room,), 0)

    def put(matrix: Matrix, at: Any, moment: Moment) -> Matrix:
        return jnp.where((row == at)[:, None], (moment.s + one)[None, :], matrix)

    one, blank = moments.one(environment), jnp.zeros((room,), jnp.float32)
    nothing = jnp.zeros((room, columns), jnp.float32) + one[None, :]
    rows = Rows(nothing, put(nothing, steps, first), blank, blank, blank)

    def body(t: Any, carry: tuple[Moment, Int[Array, ""], Rows]) -> tuple[Moment, Int[Array, ""], Rows]:
        moment, goes_on, rows = carry
        at = goes_on * (t + 1) - 1  # no row once the rollout is over
        here = row == at
        action, acting = choose_evenly(moment, actions), act(learner.theta, moment.s, actions)
        rho = jnp.sum(one_hot(acting, action) * acting.pi) * actions
        outcome = advance(environment, moment, action, 1.0 / actions)
        discount = jnp.exp(outcome.moment.step.astype(jnp.float32) * jnp.log(algorithm.gamma))
        kept = (uniform(moment.numbers, moment.step + KEPT) < discount).astype(jnp.float32)
        rows = Rows(
            put(rows.s, at, moment),
            put(rows.atoms, at, outcome.moment),
            jnp.where(here, rho, rows.rho),
            jnp.where(here, 1.0, rows.there),
            jnp.where(here, kept, rows.kept),
        )
        return outcome.moment, goes_on * (1 - outcome.done.astype(jnp.int32)), rows

    return jax.lax.fori_loop(0, steps, body, (first, first.step + 1, rows))[2]


def update(
    form: str, optimiser: Adam, state: RatioState, rows: Rows, steps: int, clock: Clock
) -> tuple[RatioState, Number]:
    """One step of D(w), and the effective sample size of wρ after it."""
    mass = rows.kept if form == "discounted" else rows.there
    total = jnp.sum(mass)
    share, nothing = mass / jnp.maximum(total, 1.0), 1.0 - jnp.minimum(total, 1.0)
    starts = 1.0 / (1.0 + total) if form == "discounted" else jnp.zeros_like(total)
    start = (jax.lax.broadcasted_iota(jnp.int32, mass.shape, 0) == steps).astype(jnp.float32)
    kernel = _gaussian(rows.atoms)

    def distance(network: Ratio) -> Number:
        w = weigh(network, rows.s)
        z = jnp.sum(share * w) + nothing
        at_atoms = weigh(network, rows.atoms) / z
        nu = (1.0 - starts) * share * (w / z * rows.rho - at_atoms) + starts * start * (1.0 - at_atoms)
        return jnp.sum(jnp.sum(kernel * nu[:, None], axis=0) * nu)

    ascent = jax.tree.map(lambda leaf: -leaf, jax.grad(distance)(state.network))
    updates = state.updates + 1
    moments, network = move(optimiser, state.moments, state.network, ascent, grown(optimiser, updates), clock)
    new = RatioState(moments, network, updates)
    new = jax.tree.map(lambda after, before: jnp.where(total > 0.0, after, before), new, state)
    omega = weigh(new.network, rows.s) * rows.rho
    second = jnp.sum(share * omega * omega)
    return new, jnp.sum(share * omega) ** 2 / jnp.maximum(second, TINY)


def _gaussian(points: Matrix) -> Float[Array, "n n"]:
    """k(x, y) = exp(−‖x − y‖²/2), the published length."""
    apart = points[:, None, :] - points[None, :, :]
    return jnp.exp(-0.5 * jnp.sum(apart * apart, axis=2))
