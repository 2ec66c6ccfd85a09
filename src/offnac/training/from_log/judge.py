"""What a candidate is worth on held-out episodes: doubly robust, with its own critic as the control.

J = E_{d₀}[V(s₀)] + E[wρδ]/(1−γ): what the critic promises, corrected by what it got wrong on episodes that
learning never saw. It is right where either V or w is, and varies little where V is nearly right.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from offnac.actor_critic import ActorCritic
from offnac.logs.log import Log
from offnac.logs.padding import padded
from offnac.ratios import Fourier, LeastSquares, RatioData, effective_sample_size
from offnac.schedules import Clock
from offnac.training.from_log.data import LogData, load
from offnac.training.from_log.program import Candidate, Drawing
from offnac.training.from_log.units import Units
from offnac.transition import Spec

RATIO = LeastSquares("direct", Fourier(128), ridge=1e-3)
"""Nearer to the data than the ratio that learning uses: here its bias counts, there its variance."""


class HeldOut(NamedTuple):
    data: LogData
    episode: Int[Array, " n"]
    """The number of each row's episode."""
    episodes: int
    promised: Float[Array, " m"]
    """What was taken out of the rewards, at the initial states: V + f is learned, V is judged."""


class Judgement(NamedTuple):
    """Of each candidate."""

    value: NDArray[np.float64]
    influence: NDArray[np.float64]
    """[candidate, episode]: what each episode adds to the value's deviation, to first order."""
    effective_sample_size: NDArray[np.float64]


def hold_out(log: Log, units: Units, horizon: float) -> HeldOut:
    episode = jnp.asarray(padded(log.episode.astype(np.int32)))
    data = load(log, units, horizon)
    return HeldOut(data, episode, log.episodes, jnp.zeros(len(data.starts)))


def judge(
    algorithm: ActorCritic, drawing: Drawing, held: HeldOut, candidates: Candidate, key: PRNGKeyArray
) -> Judgement:
    values, influences, sizes = [], [], []
    starts = int(held.data.starts_size)
    for theta, psi in zip(*candidates, strict=True):
        parts = _judge(algorithm, drawing, held, Candidate(theta, psi), key)
        promised, corrected, size = (np.asarray(part, float) for part in parts)
        promised, corrected = promised[:starts], corrected[: held.episodes]
        influence = corrected - corrected.mean()
        influence[:starts] += (promised - promised.mean()) / starts
        values.append(promised.mean() + corrected.sum())
        influences.append(influence)
        sizes.append(size)
    return Judgement(np.array(values), np.array(influences), np.array(sizes))


@jax.jit
def _judge(
    algorithm: ActorCritic, drawing: Drawing, held: HeldOut, candidate: Candidate, key: PRNGKeyArray
) -> tuple[Array, Array, Array]:
    """V at the initial states; for each episode its part of E[wρδ]/(1−γ); wρ's effective sample size."""
    row_key, start_key, init_key, ratio_key = jax.random.split(key, 4)
    rows = drawing.held_out_rows
    numbers = held.data.numbers(rows, drawing.share, row_key)
    batch = held.data.take(numbers)
    rho = algorithm.policy.probability_ratio(candidate.theta, batch)
    known = RatioData(batch, rho, held.data.initial(start_key), jnp.ones(rows))
    first = RATIO.init(init_key, Spec("", batch.observation.shape[1], 0))
    ratio, info = RATIO.update(first, known, algorithm.gamma, ratio_key, Clock.start())
    # Not normalised: where episodes end, d̃ has less than all the mass.
    omega = info.mean * RATIO.ratio(ratio, batch.observation) * rho

    def V(observation: Array) -> Array:
        return algorithm.critic.value(candidate.psi, observation)

    following = algorithm.gamma * batch.continues * V(batch.next_observation)
    delta = batch.reward + following - V(batch.observation)
    wrong = omega * delta / (rows * (1.0 - algorithm.gamma))
    by_episode = jax.ops.segment_sum(wrong, held.episode[numbers], len(held.episode))
    return V(held.data.starts) - held.promised, by_episode, effective_sample_size(omega)
