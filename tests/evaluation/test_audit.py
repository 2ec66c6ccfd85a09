"""The audit notices a policy that leaves the log, and does not cry wolf over one that stays."""

import json
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from offnac import UserError, api, cli, read_log
from offnac.environments import make
from offnac.environments.exact import discounted_visitation
from offnac.evaluation.audit import audit, support
from offnac.evaluation.audit.support import K
from offnac.evaluation.audit.verdict import judge
from offnac.networks import MLP
from offnac.saved_policy import Policy
from offnac.transition import Spec

GAMMA = 0.99


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """A third of the artificial episodes: what is asserted leaves room for that."""
    monkeypatch.setattr(support, "EPISODES", 40)


def chain_policy(right):
    """Goes right with this probability in every state of the chain."""
    logits = np.log(np.tile([1.0 - right, right], (8, 1)))
    return Policy(
        MLP(8, (), 2, bias=False), jnp.asarray(logits.T.ravel(), jnp.float32), make("tabular-chain").spec
    )


def cartpole_policy(*weights):
    """Pushes right by σ(wᵀs): (0, 0, 0, 0) is uniform, (1, 3, 20, 10) balances for long."""
    theta = jnp.concatenate([jnp.zeros(4), jnp.asarray(weights, jnp.float32)])
    return Policy(MLP(4, (), 2, bias=False), theta, Spec("CartPole-v1", 4, 2))


@pytest.fixture(scope="module")
def log_of(tmp_path_factory):
    """Logs of a policy's own behaviour, each collected once."""
    folder, kept = tmp_path_factory.mktemp("logs"), {}

    def collect(policy, steps, share=0.0):
        key = (policy.spec.name, np.asarray(policy.theta).tobytes(), steps, share)
        if key not in kept:
            policy.save(folder / "policy")
            out = folder / f"{len(kept)}.parquet"
            api.collect(
                policy.spec.name, steps=steps, out=out, behaviour=f"{folder / 'policy'}:{share}", first_seed=3
            )
            kept[key] = read_log(out)
        return kept[key]

    return collect


def truly_barely_held(log, right):
    """The share of d̃_π in (s, a) of which the log has fewer than K rows."""
    pi = np.tile([1.0 - right, right], (8, 1))
    d = np.asarray(discounted_visitation(make("tabular-chain"), jnp.asarray(pi), GAMMA))
    rows = np.zeros((8, 2))
    np.add.at(rows, (np.asarray(log.rows.observation).argmax(axis=1), np.asarray(log.rows.action)), 1)
    return float((d[:, None] * pi * (rows < K)).sum() / d.sum())


@pytest.mark.parametrize(
    ("behaviour", "policy", "verdict"),
    [
        (0.1, 0.1, "supported"),
        (0.1, 0.15, "supported"),
        (0.5, 0.999, "supported"),
        (0.1, 0.999, "unsupported"),
        (0.1, 0.5, "unsupported"),
        (0.8, 0.1, "weak"),
    ],
)
def test_the_chain(behaviour, policy, verdict, log_of):
    log = log_of(chain_policy(behaviour), 5000)
    found = audit(log, chain_policy(policy))
    assert found["verdict"] == verdict
    assert found["recommended"] == (verdict != "unsupported")
    share, truth = found["policy"]["support"]["barely_held"], truly_barely_held(log, policy)
    if verdict == "unsupported":
        assert share >= truth > 0.3
        assert "not recommended" in found["reasons"][0]
        assert f"{share:.0%} of its weight" in found["reasons"][1]
    else:
        assert truth < 0.01
        assert share < 0.02


@pytest.mark.parametrize("rows", [60, 300, 3000])
@pytest.mark.parametrize("weights", [(0, 0, 0, 0), (1, 3, 20, 10)], ids=["uniform", "balancing"])
def test_the_behaviour_itself_is_supported(weights, rows, log_of):
    policy = cartpole_policy(*weights)
    found = audit(log_of(policy, rows), policy)
    assert found["verdict"] == "supported"
    np.testing.assert_allclose(found["policy"]["effective_sample_size"]["rho"], 1.0, rtol=1e-5)


def test_a_good_policy_that_the_log_does_not_show_is_unsupported(log_of):
    """A log of falling tells nothing about balancing for long, nor the other way round."""
    balancing, falling = cartpole_policy(1, 3, 20, 10), cartpole_policy(0, 0, -20, -10)
    log = log_of(falling, 3000, share=0.1)
    found = audit(log, balancing)
    assert found["verdict"] == "unsupported"
    assert found["policy"]["effective_sample_size"]["w_rho"] < 0.3
    assert audit(log_of(balancing, 3000), falling)["verdict"] == "unsupported"


def test_a_little_off_the_behaviour_is_supported_and_far_off_in_a_small_log_is_weak(log_of):
    log = log_of(cartpole_policy(1, 3, 20, 10), 3000, share=0.3)
    assert audit(log, cartpole_policy(1, 3, 18, 9))["verdict"] != "unsupported"
    uniform = log_of(cartpole_policy(0, 0, 0, 0), 3000)
    assert audit(uniform, cartpole_policy(0.2, 0.1, 0.1, -0.2))["verdict"] == "supported"
    assert audit(uniform, cartpole_policy(1, 3, 20, 10))["verdict"] in ("weak", "unsupported")


def test_the_log_alone(log_of):
    log = log_of(chain_policy(0.5), 5000)
    found = audit(log)
    assert (found["verdict"], found["reasons"], found["policy"]) == (None, [], None)
    assert (found["rows"], found["episodes"]) == (5000, log.episodes)
    assert sum(one["rows"] for one in found["action_use"]) == 5000
    assert found["returns"]["mean"] == pytest.approx(log.returns().mean())
    assert found["lengths"]["mean"] == pytest.approx(5000 / log.episodes)
    assert sum(found["lengths"]["histogram"]["counts"]) == log.episodes
    assert found["behaviour"]["source"] == "logged"
    assert found["behaviour"]["actions_tried"] == pytest.approx(2.0, rel=1e-4)
    json.dumps(found, allow_nan=False)


def test_weights_are_the_exact_ones_up_to_what_features_can_say(log_of):
    """On one-hot states w is d̃_π/D; its effective sample size is that of the exact ratio, nearly."""
    log = log_of(chain_policy(0.5), 5000)
    found = audit(log, chain_policy(0.7))["policy"]["effective_sample_size"]
    pi = np.tile([0.3, 0.7], (8, 1))
    d = np.asarray(discounted_visitation(make("tabular-chain"), jnp.asarray(pi), GAMMA))
    state = np.asarray(log.rows.observation).argmax(axis=1)
    omega = (d / np.bincount(state))[state] * pi[state, log.rows.action] / 0.5
    exact = omega.sum() ** 2 / (omega**2).sum() / len(omega)
    assert found["w_rho"] == pytest.approx(exact, abs=0.1)
    assert found["rows"] == pytest.approx(found["w_rho"] * 5000)
    assert 1 <= found["episodes"] <= log.episodes


def test_unknown_probabilities_are_fitted_and_marked(log_of):
    log = log_of(chain_policy(0.5), 5000)
    blind = replace(log, behaviour=None, rows=log.rows._replace(behaviour_prob=np.ones(len(log), np.float32)))
    found = audit(blind, chain_policy(0.5))
    assert found["behaviour"]["source"] == "fitted"
    assert found["verdict"] == "supported"
    assert any("fitted" in reason for reason in found["reasons"])
    assert any("were fitted" in warning for warning in found["warnings"])


@pytest.mark.parametrize(("prob", "sentence"), [(0.1, "1/μ is 10.00"), (0.4, "1/μ is 2.50")])
def test_probabilities_that_cannot_be_are_noticed(prob, sentence, log_of):
    log = log_of(chain_policy(0.5), 5000)
    wrong = replace(log, rows=log.rows._replace(behaviour_prob=np.full(len(log), prob, np.float32)))
    found = audit(wrong, chain_policy(0.5))
    assert found["verdict"] == "weak"
    assert any(sentence in reason for reason in found["reasons"])


CONTENTS = {
    "rows": 10_000, "episodes": 100, "actions": 2, "lengths": {"mean": 100.0}, "features": [{"name": "bp"}],
    "behaviour": {"source": "logged", "mean_inverse": 2.0, "mean_inverse_se": 0.01},
}  # fmt: skip
WEIGHTS = {
    "effective_sample_size": {"rho": 0.5, "w_rho": 0.3, "rows": 3000.0, "episodes": 60.0},
    "mean_rho": 1.0,
    "mean_rho_se": 0.01,
    "chi_square": 1.0,
}
SUPPORT = {
    "barely_held": 0.02, "states": 0.01, "actions": 0.01, "late": 0.0, "longest": 40.0, "horizon": 100.0,
    "centre": [2.0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        ({}, "supported", "3,000 effective rows of 10,000"),
        ({"barely_held": 0.12, "states": 0.1}, "weak", "12% of its weight"),
        ({"barely_held": 0.4, "states": 0.3}, "weak", "bp is on average 2.0 SD above"),
        ({"barely_held": 0.5, "states": 0.4}, "unsupported", "bp is on average 2.0 SD above"),
        ({"barely_held": 0.5, "actions": 0.4}, "unsupported", "mostly by its actions"),
        ({"late": 0.7}, "weak", "70% of its weight comes after step 40"),
        ({"late": 0.7, "barely_held": 0.12}, "unsupported", "later than logged episodes last"),
        ({"episodes": 20.0}, "weak", "20.0 effective episodes of 100"),
        ({"episodes": 5.0}, "unsupported", "5.0 effective episodes"),
        ({"episodes": 5.0, "w_rho": 0.8}, "supported", ""),
        ({"mean_rho": 0.5}, "unsupported", "at least 48% of its choices"),
        ({"mean_rho": 2.0}, "weak", "π/μ is 2.00 on average"),
        ({"late": 0.4}, "supported", ""),
        ({"chi_square": 1e-4, "barely_held": 0.5}, "supported", "hardly differs from the behaviour"),
        ({"source": "fitted", "expected_calibration_error": 0.2}, "weak", "off by 0.20"),
    ],
)
def test_each_number_has_its_say(changes, verdict, words):
    def changed(numbers):
        return {name: changes.get(name, value) for name, value in numbers.items()}

    contents = CONTENTS | {"behaviour": CONTENTS["behaviour"] | {
        name: value for name, value in changes.items() if name in ("source", "expected_calibration_error")
    }}  # fmt: skip
    weights = changed(WEIGHTS) | {"effective_sample_size": changed(WEIGHTS["effective_sample_size"])}
    found = judge(contents, weights, changed(SUPPORT))
    assert found["verdict"] == verdict
    assert words in " ".join(found["reasons"])


@pytest.fixture
def files(log_of, tmp_path, monkeypatch):
    from offnac.logs.write import write_log

    monkeypatch.chdir(tmp_path)
    write_log(log_of(chain_policy(0.1), 5000), "log.parquet")
    chain_policy(0.999).save("policy")
    return tmp_path


def test_the_command(files, capsys):
    assert cli.main(["audit", "log.parquet", "policy", "--html", "page.html"]) == 0
    printed = capsys.readouterr().out
    assert "verdict: unsupported" in printed
    assert "it is not recommended" in printed
    assert cli.main(["audit", "log.parquet", "policy", "--json"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    found = json.loads(printed)
    assert set(found) >= {"rows", "episodes", "behaviour", "verdict", "reasons", "recommended"}
    page = (files / "page.html").read_text()
    assert "unsupported" in page and found["reasons"][1][:20] in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert cli.main(["audit", "log.parquet"]) == 0
    assert "verdict" not in capsys.readouterr().out


def test_bad_input_gets_one_plain_sentence(files, capsys):
    cartpole_policy(0, 0, 0, 0).save("other")
    for arguments, sentence in [
        (["log.parquet", "other"], "made for CartPole-v1"),
        (["log.parquet", "nowhere"], "nowhere is not one"),
        (["nothing.parquet"], "there is nothing"),
        (["log.parquet", "policy", "--gamma", "1"], "γ must lie in (0, 1)"),
        (["log.parquet", "--html", "log.parquet"], "exists already"),
    ]:
        assert cli.main(["audit", *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1 and sentence in captured.err
    with pytest.raises(UserError, match="γ"):
        api.audit("log.parquet", gamma=0.0)
