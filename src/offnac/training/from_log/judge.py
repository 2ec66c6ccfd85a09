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
from offnac.training.from_log.program import Candidate
from offnac.training.from_log.units import Units
from offnac.transition import Spec

RATIO_ROWS = 1 << 13
"""Rows that a candidate's ratio is estimated from."""
RATIO = LeastSquares("direct", Fourier(128), ridge=1e-3)
"""Nearer to the data than the ratio that learning uses: here its bias counts, there its variance."""


class HeldOut(NamedTuple):
    data: LogData
    probability: Float[Array, " n"]
    """With which each row is drawn; 0 for padding."""
    episode: Int[Array, " n"]
    episodes: int


class Judgement(NamedTuple):
    """Of each candidate."""

    value: NDArray[np.float64]
    influence: NDArray[np.float64]
    """[candidate, episode]: what each episode adds to the value's deviation, to first order."""
    effective_sample_size: NDArray[np.float64]


def hold_out(log: Log, units: Units, horizon: float, share: float) -> HeldOut:
    data = load(log, units, horizon)
    size, telling = len(log), np.asarray(data.telling[: int(data.telling_size)])
    probability = np.full(size, (1.0 - share) / size)
    probability[telling] += share / len(telling)
    return HeldOut(
        data,
        jnp.asarray(padded(probability.astype(np.float32))),
        jnp.asarray(padded(log.episode.astype(np.int32))),
        log.episodes,
    )


def judge(
    algorithm: ActorCritic, held: HeldOut, candidates: Candidate, share: float, key: PRNGKeyArray
) -> Judgement:
    values, influences, sizes = [], [], []
    for theta, psi in zip(*candidates, strict=True):
        parts = _judge(algorithm, held, Candidate(theta, psi), share, key)
        promised, corrected, size = (np.asarray(part, float) for part in parts)
        promised, corrected = promised[: held.episodes], corrected[: held.episodes]
        values.append(promised.mean() + corrected.sum())
        influences.append((promised - promised.mean()) / len(promised) + corrected - corrected.mean())
        sizes.append(size)
    return Judgement(np.array(values), np.array(influences), np.array(sizes))


@jax.jit
def _judge(
    algorithm: ActorCritic,
    held: HeldOut,
    candidate: Candidate,
    share: float,
    key: PRNGKeyArray,
) -> tuple[Array, Array, Array]:
    """For each episode V of its first state and its sum of wρδ/(1−γ); and wρ's effective sample size."""
    data, batch = held.data, held.data.rows
    row_key, start_key, init_key, ratio_key = jax.random.split(key, 4)
    drawn = data.draw(RATIO_ROWS, share, row_key)
    rho = algorithm.policy.probability_ratio(candidate.theta, drawn)
    known = RatioData(drawn, rho, data.initial(start_key), jnp.ones(RATIO_ROWS))
    first = RATIO.init(init_key, Spec("", batch.observation.shape[1], 0))
    ratio, info = RATIO.update(first, known, algorithm.gamma, ratio_key, Clock.start())
    # Not normalised: where episodes end, d̃ has less than all the mass.
    w = info.mean * RATIO.ratio(ratio, batch.observation)
    omega = w * algorithm.policy.probability_ratio(candidate.theta, batch)
    value = algorithm.critic.value(candidate.psi, batch.observation)
    following = algorithm.critic.value(candidate.psi, batch.next_observation)
    delta = batch.reward + algorithm.gamma * batch.continues * following - value
    there = held.probability > 0

    def by_episode(values: Array) -> Array:
        return jax.ops.segment_sum(jnp.where(there, values, 0.0), held.episode, len(held.episode))

    return (
        by_episode(jnp.where(batch.step == 0, value, 0.0)),
        by_episode(held.probability * omega * delta) / (1.0 - algorithm.gamma),
        effective_sample_size(jnp.where(there, omega, 0.0), held.probability),
    )
