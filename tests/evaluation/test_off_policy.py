"""Off-policy evaluation where the truth is known: intervals cover it, errors stay small as horizons grow."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from offnac import cli
from offnac.environments import exact
from offnac.environments.tabular import chain
from offnac.errors import UserError
from offnac.evaluation.off_policy import ope
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.evidence import gather
from offnac.evaluation.off_policy.fitted import network
from offnac.evaluation.off_policy.ope import side_by_side
from offnac.logs import Log
from offnac.transition import Spec, Transition

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "ope.py"


@pytest.fixture(scope="module")
def benchmark():
    specification = importlib.util.spec_from_file_location("bench_ope", BENCHMARK)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cells(benchmark):
    return list(benchmark.tabular(mdps=2, logs=20, episodes=50, horizons=(10, 100), first_seed=0))


def test_the_recommended_interval_covers_the_truth(cells):
    for criterion in ("discounted", "undiscounted"):
        covered = [cell[criterion]["estimators"]["recommended"]["coverage"] for cell in cells]
        assert np.mean(covered) >= 0.85


def test_longer_horizons_favour_it_over_weighted_importance_sampling(cells):
    def ratio(horizon):
        chosen = [cell["discounted"]["estimators"] for cell in cells if cell["horizon"] == horizon]
        return np.mean([each["recommended"]["rmse"] / each["weighted"]["rmse"] for each in chosen])

    assert ratio(100) < ratio(10) < 1.0


def test_the_behaviour_is_worth_what_the_log_says(benchmark):
    mdp = chain()
    (log,) = benchmark.play(mdp, 1, 60, 40, seed=3)
    uniform = benchmark.linear(log.spec, np.zeros((log.spec.actions, log.spec.observation_size)))
    result = ope(uniform, log, gamma=0.9)
    value = float(mdp.d0 @ exact.value(mdp, np.full(mdp.r.shape, 1.0 / mdp.r.shape[1]), 0.9))
    recommended = result["estimators"][result["recommended"]]
    assert recommended["low"] <= value <= recommended["high"]
    assert result["verdict"] == "supported"
    for name in ("per_decision", "weighted"):
        assert result["estimators"][name]["undiscounted"]["value"] == pytest.approx(
            log.returns().mean(), rel=1e-4
        )


def test_one_episode_is_too_few(benchmark):
    (log,) = benchmark.play(chain(), 1, 1, 40, seed=3)
    policy = benchmark.linear(log.spec, np.zeros((log.spec.actions, log.spec.observation_size)))
    with pytest.raises(UserError, match="at least two episodes"):
        ope(policy, log)


def test_the_command_tells_all_estimators_and_which_to_trust(tmp_path, capsys, benchmark):
    log = tmp_path / "log.parquet"
    collecting = ["collect", "tabular-chain", "--steps", "600", "--max-steps", "30", "--out", str(log)]
    assert cli.main([*collecting, "--quiet"]) == 0
    spec = chain().spec
    policy = benchmark.linear(spec, np.eye(spec.actions, spec.observation_size))
    policy.save(tmp_path / "policy")
    capsys.readouterr()
    assert cli.main(["ope", str(tmp_path / "policy"), str(log), "--gamma", "0.9", "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["recommended"] in result["estimators"] and result["reason"]
    for estimate in result["estimators"].values():
        assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert set(estimate["undiscounted"]) >= {"value", "low", "high"}
    assert result["effective_sample_size"] > 0 and result["behaviour"]["source"] == "logged"


def hazardous(episodes, hazard, rng):
    """A log of noise in which every step earns 1 and is the last with one probability, whatever is done."""
    lengths = np.minimum(rng.geometric(hazard, episodes), 60)
    rows, last = int(lengths.sum()), np.cumsum(lengths) - 1
    observation, following = rng.normal(size=(2, rows, 2)).astype(np.float32)
    step = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    terminated, truncated = np.zeros(rows, bool), np.zeros(rows, bool)
    terminated[last], truncated[last] = lengths < 60, lengths == 60
    columns = (
        observation,
        rng.integers(0, 2, rows, dtype=np.int32),
        np.ones(rows, np.float32),
        following,
        terminated,
        truncated,
        np.full(rows, 0.5, np.float32),
        step,
    )
    return Log(Spec("noise", 2, 2), Transition(*columns), np.repeat(np.arange(episodes), lengths))


def test_ends_are_fitted_as_often_as_they_come(benchmark, monkeypatch):
    """Where chance ends an episode, rows that ended must not be looked at more often than the others."""
    monkeypatch.setattr(network, "STEPS", 1500)
    log = hazardous(100, 0.04, np.random.default_rng(0))
    policy = benchmark.linear(log.spec, [[0.5, 0.0], [0.0, 0.5]])
    estimates = side_by_side(gather(policy, log), None, Criterion(0.9)).estimates
    value = 1.0 / (1.0 - 0.9 * (1.0 - np.asarray(log.rows.terminated).mean()))
    for name in ("fitted_q", "marginalised_doubly_robust"):
        assert estimates[name].value == pytest.approx(value, rel=0.05)
        assert estimates[name].low <= value <= estimates[name].high


def test_weights_that_vanish_do_not_look_even(benchmark):
    """Over long episodes every Π ρ of a decided policy is nearly 0; one is still by far the largest."""
    log = hazardous(40, 1e-6, np.random.default_rng(0))
    rows = log.rows._replace(behaviour_prob=np.full(len(log), 1.0, np.float32))
    evidence = gather(benchmark.linear(log.spec, [[40.0, 0.0], [-40.0, 0.0]]), replace(log, rows=rows))
    assert evidence.log_weight[evidence.last].max() < -300.0
    assert evidence.effective_episodes(Criterion(0.99)) < 5.0
