"""What a run in a simulator left in its learner, held against the simulator: weights, and values.

Nothing of this slows training down: it is computed from the last checkpoint when somebody looks.
"""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from offnac.behaviour import Uniform
from offnac.environments import HostEnvironment
from offnac.environments.environment import Environment
from offnac.evaluation.audit.weights import histogram
from offnac.report.rollouts import collected, returns_to_go
from offnac.request import prepare
from offnac.saved_policy import Policy
from offnac.training.protocol import Experiment, start
from offnac.training.seed_folder import SeedFolder
from offnac.transition import Transition

BINS = 12


class Reliability(NamedTuple):
    """In bins of equally many visited states: V there, and the returns that followed."""

    value: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Diagnosis(NamedTuple):
    weights: dict[str, list[float]] | None
    """The histogram of wρ over rows of the behaviour; None on-policy, where every weight is 1."""
    values: Reliability
    gamma: float


def diagnose(out: Path, request: dict[str, Any], seed: int) -> Diagnosis:
    """Look at one seed of the run in ``out`` as it is now."""
    task, experiment = prepare(dict(request))
    algorithm, protocol = experiment.algorithm, experiment.protocol
    first = start(algorithm, protocol, task.spec, jax.random.key(seed))
    learner = SeedFolder(out, seed).load(first._replace(memory=None))[0].learner
    try:
        weights = None
        if protocol.off_policy:
            rows = _seen(experiment, collected(task, Uniform(task.spec.actions), seed).rows)
            rho = algorithm.policy.probability_ratio(learner.theta, rows)
            omega = np.asarray(rho * algorithm.ratios.weights(learner.ratios, rows.observation)[1], float)
            weights = histogram(np.nan_to_num(omega))
        return Diagnosis(weights, _values(task, experiment, learner, seed), float(algorithm.gamma))
    finally:
        if isinstance(task, HostEnvironment):
            task.close()


def _values(
    task: Environment | HostEnvironment, experiment: Experiment, learner: Any, seed: int
) -> Reliability:
    algorithm, protocol = experiment.algorithm, experiment.protocol
    mean, scale = (
        None if numbers is None else jnp.asarray(numbers, jnp.float32)
        for numbers in (protocol.mean, protocol.scale)
    )
    # π as the critic knows it, also where it is the mean of its path that is learned.
    policy = Policy(algorithm.policy.network, learner.theta, task.spec, mean, scale)
    log = collected(task, policy.acting(), seed)
    rows = _seen(experiment, log.rows)
    value, following = (
        np.asarray(algorithm.critic.value(learner.value.psi, states), float)
        for states in (rows.observation, rows.next_observation)
    )
    # Rewards as the critic is shown them, and time limits as its protocol takes them.
    returns = returns_to_go(
        log.episode, np.asarray(rows.reward), np.asarray(rows.terminated), following, float(algorithm.gamma)
    )
    return reliability(value, returns)


def _seen(experiment: Experiment, rows: Transition) -> Transition:
    """Rows as the learner sees them."""
    protocol = experiment.protocol
    batch: Transition = jax.tree.map(jnp.asarray, rows)
    if protocol.mean is not None and protocol.scale is not None:
        mean, scale = jnp.asarray(protocol.mean), jnp.asarray(protocol.scale)
        batch = batch._replace(
            observation=(batch.observation - mean) / scale,
            next_observation=(batch.next_observation - mean) / scale,
        )
    return protocol.as_learned(batch)


def reliability(value: NDArray[np.float64], returns: NDArray[np.float64]) -> Reliability:
    order = np.argsort(value, kind="stable")
    bins = [part for part in np.array_split(order, BINS) if len(part)]
    low, high = (np.array([np.quantile(returns[part], q) for part in bins]) for q in (0.25, 0.75))
    promised, came = (np.array([numbers[part].mean() for part in bins]) for numbers in (value, returns))
    return Reliability(promised, came, low, high)
