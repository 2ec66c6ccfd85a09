"""Fitted probabilities of the behaviour approach the true ones, and say how good they are."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from offnac import fit_behaviour, read_log
from offnac.environments.exact import sample, stationary
from offnac.environments.tabular import random_mdp
from offnac.logs.calibration import Reliability
from offnac.logs.log import FITTED
from offnac.logs.propensity import describe_behaviour, known_behaviour

pytestmark = pytest.mark.optimised

ROWS, EPISODE = 16_000, 20


def log_of(mu, observation, seed=0):
    """A log whose actions are drawn with μ, which it does not tell; and μ(a|s)."""
    rng = np.random.default_rng(seed)
    rows = len(mu)
    action = np.minimum((mu.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1), mu.shape[1] - 1)
    table = {
        "episode": np.arange(rows) // EPISODE,
        "observation": observation,
        "action": action,
        "reward": rng.normal(size=rows),
        "terminated": np.arange(rows) % EPISODE == EPISODE - 1,
    }
    return read_log(table, actions=mu.shape[1]), mu[np.arange(rows), action]


def softmax(logits):
    mu = np.exp(logits - logits.max(axis=1, keepdims=True))
    return mu / mu.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def behaviours():
    """Behaviours that each of the models should be right for."""
    rng = np.random.default_rng(1)
    observation = rng.normal(size=(ROWS, 3)).astype(np.float32) * (1, 100, 0.01) + (0, 1000, 0)
    x = (observation - observation.mean(axis=0)) / observation.std(axis=0)
    weights = rng.normal(size=(3, 3))
    return observation, {
        "frequencies": np.tile([0.2, 0.5, 0.3], (ROWS, 1)),
        "logistic": softmax(x @ weights),
        "network": softmax(1.5 * np.abs(x) @ weights),
    }


@pytest.mark.parametrize("model", ["frequencies", "logistic", "network"])
def test_the_right_model_is_chosen_and_approaches_the_truth(model, behaviours):
    observation, true = behaviours
    log, prob = log_of(true[model], observation)
    fitted = fit_behaviour(log)
    report = fitted.calibration
    assert report.model == model
    assert np.abs(fitted.rows.behaviour_prob - prob).mean() < {"network": 0.04}.get(model, 0.01)
    assert report.log_likelihood == max(report.candidates.values()) or model != "network"
    assert abs(report.log_likelihood - np.log(prob).mean()) < 0.02
    assert report.expected_calibration_error < 0.02
    assert sum(row["count"] for row in report.reliability) == 3 * ROWS
    # Everything but the probabilities is as it was, and it is marked.
    assert fitted.behaviour == FITTED
    assert "were fitted" in fitted.warnings[-1]
    assert_array_equal(fitted.rows.action, log.rows.action)


def test_a_table_of_states_is_learned_exactly():
    mdp = random_mdp(jax.random.key(0), states=3, actions=3)
    mu = np.asarray(softmax(np.asarray(jax.random.normal(jax.random.key(1), (3, 3)))))
    rows = sample(jax.random.key(2), mdp, stationary(mdp, mu), mu, 16_000)
    table = {name: np.asarray(values) for name, values in rows._asdict().items() if name != "behaviour_prob"}
    log = read_log(table | {"episode": np.arange(16_000) // 20, "truncated": np.arange(16_000) % 20 == 19,
                            "step": np.arange(16_000) % 20})  # fmt: skip
    fitted = fit_behaviour(log)
    assert np.abs(fitted.rows.behaviour_prob - rows.behaviour_prob).max() < 0.05


def test_what_is_logged_is_used_and_what_is_fitted_is_described(behaviours):
    log, prob = log_of(behaviours[1]["frequencies"], behaviours[0])
    logged = replace(log, rows=log.rows._replace(behaviour_prob=prob), behaviour="logged")
    assert known_behaviour(logged) is logged
    assert describe_behaviour(logged) == {"source": "logged"}
    described = describe_behaviour(known_behaviour(log.take(np.arange(20))))
    assert described["source"] == "fitted"
    assert set(described) >= {"model", "log_likelihood", "expected_calibration_error", "reliability"}


@pytest.mark.parametrize("rows", [2, 30])
def test_a_handful_of_rows_is_enough_to_answer(rows):
    mu = np.full((rows, 3), 1 / 3)
    log, _ = log_of(mu, np.zeros((rows, 3), np.float32))
    fitted = fit_behaviour(log)
    assert ((fitted.rows.behaviour_prob > 0) & (fitted.rows.behaviour_prob <= 1)).all()


def test_reliability_counts_every_action_of_every_row():
    table = Reliability()
    table.add(np.array([[0.95, 0.05], [0.95, 0.05]]), np.array([0, 1]))
    assert_allclose(table.error(), 0.45)
    assert table.table() == (
        {"predicted": 0.05, "observed": 0.5, "count": 2},
        {"predicted": 0.95, "observed": 0.5, "count": 2},
    )
