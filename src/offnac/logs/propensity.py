"""Fit μ(a|s) where a log does not hold it: frequencies, multinomial logistic, or a small network.

Episodes are dealt into folds; a row's probability comes from the model of the folds without its episode,
so that what is reported about the fit is about the very numbers that are used.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from offnac.logs.calibration import Calibration, Reliability
from offnac.logs.log import FITTED, Log
from offnac.logs.padding import padded
from offnac.networks import MLP, Parameters
from offnac.policy import SoftmaxPolicy
from offnac.settings import settings, static

FOLDS = 3
LEARNED_FROM = 1 << 20
"""Rows drawn to fit a model; more would not be visited."""
CHUNK = 1 << 16
"""Rows whose probabilities are computed at a time."""

Predict = Callable[[int, NDArray[np.float32]], NDArray[np.float32]]
"""μ̂(·|s) [n, A] by the model without fold k."""


@settings
class Fit:
    """How a softmax model is fitted: Adam on minibatches, the rate falling to 0, weights decayed."""

    policy: SoftmaxPolicy
    rate: float
    steps: int = static(default=1000)
    batch: int = static(default=1024)
    decay: float = 1e-4

    def __call__(
        self,
        key: PRNGKeyArray,
        observation: Float[Array, "n d"],
        action: Int[Array, " n"],
        seen: Float[Array, " n"],
        size: Int[Array, ""],
    ) -> Parameters:
        """θ of the highest likelihood of those of the first ``size`` rows that are ``seen`` (1, not 0)."""

        def loss(theta: Parameters, rows: Int[Array, " b"]) -> Float[Array, ""]:
            log_mu = self.policy.log_prob(theta, observation[rows], action[rows])
            weight = seen[rows]
            return -(weight * log_mu).sum() / jnp.maximum(weight.sum(), 1.0)

        optimiser = optax.adamw(optax.cosine_decay_schedule(self.rate, self.steps), weight_decay=self.decay)

        def step(carry: Any, key: PRNGKeyArray) -> tuple[Any, None]:
            theta, state = carry
            rows = jax.random.randint(key, (self.batch,), 0, size)
            update, state = optimiser.update(jax.grad(loss)(theta, rows), state, theta)
            return (optax.apply_updates(theta, update), state), None

        theta = self.policy.init(key)
        keys = jax.random.split(key, self.steps)
        return jax.lax.scan(step, (theta, optimiser.init(theta)), keys)[0][0]


@jax.jit
def _fit_folds(
    fit: Fit, key: PRNGKeyArray, observation: Array, action: Array, fold: Array, size: Array
) -> Float[Array, "folds k"]:
    """A model for each fold, made without it; all in one program."""
    seen = (fold[None] != jnp.arange(FOLDS)[:, None]).astype(observation.dtype)
    return jax.vmap(lambda row: fit(key, observation, action, row, size))(seen)


@jax.jit
def _probabilities(policy: SoftmaxPolicy, theta: Parameters, observation: Array) -> Array:
    return jnp.exp(policy.log_probabilities(theta, observation))


def known_behaviour(log: Log) -> Log:
    """The log with probabilities of its actions: its own, else fitted ones."""
    return log if log.behaviour is not None else fit_behaviour(log)


def describe_behaviour(log: Log) -> dict[str, Any]:
    """Where the probabilities come from, for everything that is computed with them."""
    said: dict[str, Any] = {"source": log.behaviour}
    return said if log.calibration is None else said | log.calibration.as_json()


def fit_behaviour(log: Log, seed: int = 0) -> Log:
    """The log with fitted probabilities and their calibration; a warning says so."""
    rng = np.random.default_rng(seed)
    fold = _folds(log, rng)
    models = _models(log, fold, rng, jax.random.key(seed))
    scores = {name: _log_likelihood(log, fold, predict) for name, predict in models.items()}
    name = _simplest(scores, log)
    floor = min(0.01, 0.1 / log.spec.actions)
    prob, table = np.empty(len(log), np.float32), Reliability()
    for rows, mu in _predictions(log, fold, models[name]):
        action = np.asarray(log.rows.action)[rows]
        table.add(mu, action)
        prob[rows] = mu[np.arange(len(rows)), action]
    calibration = Calibration(
        model=name,
        log_likelihood=float(scores[name].mean()),
        candidates={name: float(score.mean()) for name, score in scores.items()},
        expected_calibration_error=table.error(),
        reliability=table.table(),
        floor=floor,
        floored=float((prob < floor).mean()),
    )
    fitted: Any = np.clip(prob, floor, 1.0)
    return replace(
        log,
        rows=log.rows._replace(behaviour_prob=fitted),
        behaviour=FITTED,
        calibration=calibration,
        warnings=(*log.warnings, calibration.warning),
    )


def _folds(log: Log, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each row: whole episodes, or stretches of rows where there are too few of them."""
    if log.episodes < FOLDS:
        return np.arange(len(log)) * FOLDS // len(log)
    return (rng.permutation(log.episodes) % FOLDS)[log.episode]


def _models(
    log: Log, fold: NDArray[np.int64], rng: np.random.Generator, key: PRNGKeyArray
) -> dict[str, Predict]:
    """From the simplest to the least simple."""
    rows = rng.choice(len(log), LEARNED_FROM, replace=False) if len(log) > LEARNED_FROM else slice(None)
    mean, scale = log.scaling()
    size, actions = log.spec.observation_size, log.spec.actions
    observation = (np.asarray(log.rows.observation)[rows] - mean) / scale
    columns = (observation, np.asarray(log.rows.action)[rows], fold[rows])
    data = (*(jnp.asarray(padded(column)) for column in columns), jnp.int32(len(observation)))

    counts = np.ones((FOLDS, actions))
    np.add.at(counts, (fold, log.rows.action), 1.0)
    others = counts.sum(0) - counts
    frequencies = (others / others.sum(1, keepdims=True)).astype(np.float32)

    def softmax(hidden: tuple[int, ...], rate: float) -> Predict:
        policy = SoftmaxPolicy(MLP(size, hidden, actions, initialisation="zero"))
        thetas = _fit_folds(Fit(policy, rate), key, *data)
        return lambda k, s: np.asarray(_probabilities(policy, thetas[k], padded((s - mean) / scale)))[
            : len(s)
        ]

    return {
        "frequencies": lambda k, s: np.broadcast_to(frequencies[k], (len(s), actions)),
        "logistic": softmax((), 3e-2),
        "network": softmax((32, 32), 3e-3),
    }


def _predictions(
    log: Log, fold: NDArray[np.int64], predict: Predict
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Rows and their μ̂(·|s), each by the model that has not seen it."""
    for k in range(FOLDS):
        mine = np.flatnonzero(fold == k)
        for begin in range(0, len(mine), CHUNK):
            rows = mine[begin : begin + CHUNK]
            yield rows, predict(k, np.asarray(log.rows.observation)[rows])


def _log_likelihood(log: Log, fold: NDArray[np.int64], predict: Predict) -> NDArray[np.float64]:
    """log μ̂(a|s) of each row; a probability of 0 counts as the least that float32 tells from it."""
    score = np.empty(len(log))
    for rows, mu in _predictions(log, fold, predict):
        taken = mu[np.arange(len(rows)), log.rows.action[rows]]
        score[rows] = np.log(np.maximum(taken, np.finfo(np.float32).tiny))
    return score


def _simplest(scores: dict[str, NDArray[np.float64]], log: Log) -> str:
    """The simplest model whose likelihood is within a standard error of the best one's, over episodes."""
    best = max(scores, key=lambda name: scores[name].mean())
    for name, score in scores.items():
        shortfall = np.bincount(log.episode, weights=scores[best] - score)
        if shortfall.mean() <= shortfall.std() / len(shortfall) ** 0.5:
            return name
    return best
