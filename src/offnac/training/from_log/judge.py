"""What a candidate is worth by episodes that learning never saw: in a model fitted to these alone.

A policy that climbs on errors of its critic or of its own model finds none of them here: a model of other
episodes errs elsewhere. What the critic itself promises notices nothing of the kind.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from offnac.actor_critic import ActorCritic
from offnac.logs.log import Log
from offnac.networks import Parameters
from offnac.ratios import Fourier, LeastSquares, RatioData, effective_sample_size
from offnac.schedules import Clock
from offnac.training.from_log import imagine
from offnac.training.from_log.data import STARTS, LogData, load
from offnac.training.from_log.model import ModelState, fit
from offnac.training.from_log.program import Drawing
from offnac.training.from_log.units import Units
from offnac.transition import Spec

RATIO = LeastSquares("direct", Fourier(64), ridge=1e-3)
"""Nearer to the data than the ratio that learning uses: here its bias counts, there its variance."""
MEMBERS = 4
"""Of the model; how far they differ is the judgement's error."""
STEPS = 400
"""That a policy is followed for."""
SEED = 1
"""Of the model: another one than learning's."""


class HeldOut(NamedTuple):
    data: LogData
    model: ModelState


class Judgement(NamedTuple):
    """Of each candidate."""

    value: NDArray[np.float64]
    influence: NDArray[np.float64]
    """[candidate, member]: what each member of the model adds to the value's deviation; the standard error
    is the root of the sum of its squares."""
    effective_sample_size: NDArray[np.float64]


def hold_out(log: Log, units: Units, horizon: float, drawing: Drawing) -> HeldOut:
    data = load(log, units, horizon)
    return HeldOut(data, fit(replace(drawing.model, members=MEMBERS), data, drawing.share, SEED))


def judge(
    algorithm: ActorCritic, drawing: Drawing, held: HeldOut, thetas: Parameters, key: PRNGKeyArray
) -> Judgement:
    """Every candidate from the same states and with the same random numbers."""
    judged = [_judge(algorithm, drawing, held, theta, key) for theta in thetas]
    by_member, size = (np.array([np.asarray(one[i], float) for one in judged]) for i in range(2))
    value = by_member.mean(axis=1)
    return Judgement(value, (by_member - value[:, None]) / np.sqrt(MEMBERS * (MEMBERS - 1.0)), size)


@jax.jit
def _judge(
    algorithm: ActorCritic, drawing: Drawing, held: HeldOut, theta: Parameters, key: PRNGKeyArray
) -> tuple[Array, Array]:
    """π's value by each member, and the effective sample size of wρ as a share of the rows."""
    row_key, start_key, init_key, ratio_key, value_key = jax.random.split(key, 5)
    starts, policy = held.data.initial(start_key), algorithm.policy
    model = replace(drawing.model, members=MEMBERS)
    value = imagine.value(
        model, held.model, policy, theta, starts[: STARTS // 2], STEPS, algorithm.gamma, value_key
    )
    batch = held.data.draw(drawing.held_out_rows, drawing.share, row_key)
    rho = policy.probability_ratio(theta, batch)
    known = RatioData(batch, rho, starts, jnp.ones_like(rho))
    first = RATIO.init(init_key, Spec("", batch.observation.shape[1], 0))
    ratio, _ = RATIO.update(first, known, algorithm.gamma, ratio_key, Clock.start())
    return value, effective_sample_size(RATIO.ratio(ratio, batch.observation) * rho)
