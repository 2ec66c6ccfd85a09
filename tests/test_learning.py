"""Learning from a log: what it finds, that it can be broken off, that it needs no simulator, and what it
makes of logs that something happened to."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial

import jax.numpy as jnp
import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from safetensors.numpy import load_file

import offnac
from offnac import UserError, api, cli, files, learning, load_policy
from offnac.environments import exact
from offnac.environments.tabular import chain
from offnac.logs import propensity
from offnac.presets.from_log import DEFAULT, LogRow, row_for
from offnac.training.from_log import potential
from offnac.training.from_log.folder import LearnFolder

from .logs.damage import Damaged, damaged_logs

SMALL = LogRow(
    actor=(8,),
    value=(16, 16),
    batch=256,
    minibatches=8,
    ratio_rows=128,
    held_out_rows=1024,
    model=16,
    model_steps=5,
)
GAMMA = 0.9


NO_AUDIT = {"verdict": None, "reasons": [], "policy": {"histogram": None}}


@pytest.fixture
def small(monkeypatch):
    """The same composition, with less of everything."""
    monkeypatch.setattr(learning, "row_for", lambda rows, shaped=False: SMALL)
    monkeypatch.setattr(potential, "LEAST", 20)
    monkeypatch.setattr(potential, "MOST", 20)


@pytest.fixture
def quick(small, monkeypatch):
    """The same without the values and the audit at the end, which take longer than all the rest, and with
    fits of μ as small."""
    monkeypatch.setattr(learning, "ope", lambda policy, log, gamma: dict.fromkeys(learning.OPE))
    monkeypatch.setattr(learning, "audit", lambda log, policy, gamma: NO_AUDIT)
    monkeypatch.setattr(propensity, "Fit", partial(propensity.Fit, steps=20, batch=64))


@pytest.fixture(scope="module")
def chain_log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "chain.parquet"
    api.collect("tabular-chain", steps=4000, out=path)
    return path


def changed(log, **columns):
    """The log with other columns."""
    return replace(log, rows=log.rows._replace(**columns))


def values(folder):
    """V of a policy of the chain at its start, exactly: of the policy, of μ, of the best policy."""
    mdp = chain()
    pi = jnp.asarray(load_policy(folder).probabilities(np.eye(8, dtype=np.float32)))
    uniform = jnp.full_like(pi, 0.5)
    best = uniform
    for _ in range(20):
        best = jnp.eye(2)[exact.q_value(mdp, best, GAMMA).argmax(axis=1)]
    return (float(mdp.d0 @ exact.value(mdp, table, GAMMA)) for table in (pi, uniform, best))


def test_offnac_finds_the_best_policy_and_values_it_rightly(chain_log, tmp_path, quick):
    result = offnac.learn(chain_log, out=tmp_path / "run", iterations=300, gamma=GAMMA)
    learned, uniform, best = values(result["policy"])
    assert learned > uniform + 0.8 * (best - uniform)
    selected = result["selected"]
    assert abs(selected["value"] - learned) < 4 * selected["standard_error"] + 0.05 * abs(best)
    assert 1 <= selected["iteration"] <= 300
    assert (result["rows"], result["behaviour"]) == (4000, "logged")


def test_imitation_stays_with_the_behaviour(chain_log, tmp_path, quick):
    result = offnac.learn(chain_log, "bc", out=tmp_path / "run", iterations=100, track="tensorboard")
    pi = load_policy(tmp_path / "run" / "seed-0" / "last").probabilities(np.eye(8, dtype=np.float32))
    assert np.abs(pi - 0.5).max() < 0.15
    assert result["algorithm"] == "bc"
    assert list((tmp_path / "run" / "tensorboard" / "seed-0").glob("events.*"))
    history = pyarrow.csv.read_csv(tmp_path / "run" / "history.csv")
    assert history.column_names[:2] == ["seed", "iteration"] and len(history) == 100


def test_the_currency_of_the_rewards_does_not_matter(chain_log, tmp_path, quick):
    log = offnac.read_log(chain_log)
    rich = changed(log, reward=log.rows.reward * np.float32(1024.0))  # a power of two loses nothing
    theta = [
        load_policy(offnac.learn(one, out=tmp_path / name, iterations=10)["policy"]).theta
        for one, name in ((log, "one"), (rich, "other"))
    ]
    np.testing.assert_allclose(*theta, rtol=2e-2, atol=1e-3)


def test_a_run_that_breaks_off_goes_on_as_if_nothing_had_been(chain_log, tmp_path, quick):
    class Broken(Exception):
        pass

    def breaks_off(update):
        if update.iterations >= 7:
            raise Broken

    settings = {"iterations": 25, "seeds": 2, "workers": 1}
    whole = offnac.learn(chain_log, out=tmp_path / "whole", **settings)
    with pytest.raises(Broken):
        offnac.learn(chain_log, out=tmp_path / "broken", report=breaks_off, **settings)
    assert not (tmp_path / "broken" / "policy").exists()
    resumed = offnac.learn(chain_log, out=tmp_path / "broken", resume=True, **settings)
    assert resumed["selected"] == whole["selected"]
    candidates = LearnFolder(tmp_path / "whole", 0).candidates()
    last = offnac.load_policy(tmp_path / "whole" / "seed-0" / "last")
    assert len(candidates) == 25 and (candidates[-1].theta == last.theta).all()
    for seed in ("seed-0", "seed-1"):
        one, other = tmp_path / "whole" / seed, tmp_path / "broken" / seed
        for name in ("history", "candidates"):
            tables = (pq.read_table(folder / f"{name}.parquet") for folder in (one, other))
            assert next(tables).equals(next(tables))
        for name in ("checkpoint", "selected/policy", "last/policy"):
            first, second = (load_file(folder / f"{name}.safetensors") for folder in (one, other))
            assert {key: array.tobytes() for key, array in first.items()} == {
                key: array.tobytes() for key, array in second.items()
            }


def test_a_run_is_gone_on_with_only_as_what_it_was(chain_log, tmp_path, quick):
    out = tmp_path / "run"
    offnac.learn(chain_log, out=out, iterations=3)
    with pytest.raises(UserError, match="exists already"):
        offnac.learn(chain_log, out=out, iterations=3)
    with pytest.raises(UserError, match=r"gamma = 0\.99, but now it is 0\.5"):
        offnac.learn(chain_log, out=out, iterations=3, gamma=0.5, resume=True)
    log = offnac.read_log(chain_log)
    other = changed(log, reward=log.rows.reward + np.eye(1, len(log), 5, dtype=np.float32)[0])
    with pytest.raises(UserError, match="begun with log"):
        offnac.learn(other, out=out, iterations=3, resume=True)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"algorithm": "dqn"}, "offnac, offac, bc"),
        ({"gamma": 1.0}, r"must lie in \(0, 1\)"),
        ({"iterations": 0}, "--iterations is 0"),
        ({"seeds": 0}, "--seeds is 0"),
        ({"workers": 0}, "--workers is 0"),
    ],
)
def test_numbers_without_a_meaning_are_refused(options, complaint, chain_log, tmp_path):
    with pytest.raises(UserError, match=complaint):
        offnac.learn(chain_log, out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_more_rows_need_less_caution():
    assert row_for(10) == row_for(22_000) == DEFAULT
    many = row_for(220_000)
    np.testing.assert_allclose([row_for(110_000).caution, many.caution], [DEFAULT.caution / 5, 0.01])
    assert row_for(10**7) == many


def test_values_and_audits_take_the_discount_that_a_policy_was_learned_with(
    chain_log, tmp_path, quick, monkeypatch
):
    offnac.learn(chain_log, "bc", out=tmp_path / "run", iterations=2, gamma=0.5)
    taken = []
    monkeypatch.setattr(api.off_policy, "ope", lambda policy, log, *, gamma, **rest: taken.append(gamma))
    monkeypatch.setattr(api, "log_audit", lambda log, policy, *, gamma: taken.append(gamma))
    for policy in (tmp_path / "run", replace(load_policy(tmp_path / "run" / "policy"), provenance={})):
        offnac.ope(policy, chain_log)
        offnac.audit(chain_log, policy)
    offnac.ope(tmp_path / "run", chain_log, gamma=0.7)
    offnac.audit(chain_log)
    assert taken == [0.5, 0.5, 0.99, 0.99, 0.7, 0.99]


def test_a_model_is_fitted_once_and_only_for_seeds_that_learn(chain_log, tmp_path, quick, monkeypatch):
    told = []

    def learn(algorithm="offnac", **options):
        told.clear()
        options = {"out": tmp_path / algorithm, "seeds": 2, "iterations": 20} | options
        offnac.learn(chain_log, algorithm, fitted=fitted, **options)

    def fitted(what, done, of):
        if what == "a model of the log":
            told.append((done, of))

    learn()
    assert told[-1][0] == told[-1][1] and len({of for _, of in told}) == 1
    monkeypatch.setattr(learning, "find", None)  # nor is a potential looked for once more
    learn(resume=True)
    assert not told
    learn("bc")
    assert not told


def test_what_actions_cost_is_found_once_and_kept(chain_log, tmp_path, quick, monkeypatch):
    """A finished run is gone on with under the same settings, which hold what was found in the rewards."""
    log, asked = offnac.read_log(chain_log), {"margin": 0.5}
    paid = log.rows.reward + np.float32(0.25) * (log.rows.action == 1)
    log = changed(log, reward=paid + np.random.default_rng(0).normal(size=len(log)).astype(np.float32))
    offnac.learn(log, out=tmp_path / "run", iterations=3, settings=asked)
    record = files.read_json(tmp_path / "run" / "run.json")
    cheapest = int(np.argmax(record["prices"]))
    favoured = record["settings"]["algorithm"]["favour"]
    assert favoured[cheapest] == pytest.approx(0.5 * np.ptp(record["prices"])) and sum(favoured) > 0.0
    monkeypatch.setattr(learning, "find", None)
    offnac.learn(log, out=tmp_path / "run", iterations=3, settings=asked, resume=True)


def test_a_log_that_teaches_nothing_is_refused(chain_log, tmp_path):
    log = offnac.read_log(chain_log)
    never, ends = np.zeros_like(log.rows.terminated), log.rows.terminated | log.rows.truncated
    log = changed(log, reward=np.ones_like(log.rows.reward), terminated=never, truncated=ends)
    with pytest.raises(UserError, match="every reward in it is 1 and no episode terminated"):
        offnac.learn(log, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_no_simulator_is_even_imported(chain_log, tmp_path):
    code = f"""
import sys, offnac
offnac.learn({str(chain_log)!r}, out={str(tmp_path / "run")!r}, iterations=2)
print(sorted({{"gymnasium", "gymnax", "offnac.environments"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_command_makes_no_environment(chain_log, tmp_path, capsys, small, monkeypatch):
    def no_environment(*arguments, **options):
        raise AssertionError("learning made an environment")

    import gymnasium
    import gymnax

    for home in (gymnasium, gymnax, offnac.environments):
        monkeypatch.setattr(home, "make", no_environment)
    out = tmp_path / "run"
    assert cli.main(["learn", str(chain_log), "--out", str(out), "--iterations", "3", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    keys = "policy rows episodes seconds algorithm behaviour selected ope verdict"
    assert set(keys.split()) <= set(printed)
    assert printed["policy"] == str(out / "policy")
    load_policy(printed["policy"])


@pytest.mark.parametrize("logs", [150, pytest.param(1000, marks=pytest.mark.thorough)])
def test_a_damaged_log_is_learned_from_or_refused(logs, tmp_path, capsys, quick):
    @settings(max_examples=logs, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged=damaged_logs())
    def each(damaged):
        learned_from_or_refused(damaged, tmp_path, capsys)

    each()


def learned_from_or_refused(damaged: Damaged, tmp_path, capsys):
    path, out = tmp_path / damaged.name, tmp_path / "run"
    path.write_bytes(damaged.content)
    status = cli.main(["learn", str(path), "--out", str(out), "--iterations", "2", "--json", "--quiet"])
    captured = capsys.readouterr()
    assert status in (0, 2), captured.err
    if status == 0:
        assert np.isfinite(load_policy(json.loads(captured.out)["policy"]).theta).all()
    else:
        assert captured.out == ""
        assert captured.err.startswith("offnac: ") and captured.err.count("\n") == 1
        assert not (out / "policy").exists()
    shutil.rmtree(out, ignore_errors=True)
