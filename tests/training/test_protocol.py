"""The paper's protocol: running average, best checkpoint, rate drops, records, what ends a task."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from offnac import api, presets
from offnac.environments import make
from offnac.environments.episode import Played
from offnac.saved_policy import load_policy
from offnac.training import checkpoint, native
from offnac.training.protocol import Protocol, Record, finish_episode, start
from offnac.transition import Spec, Transition

RUN = {"environment": "tabular-chain", "episodes": 10, "max_steps": 30, "test_episodes": 10, "workers": 1}


def book(returns, newest, algorithm=None):
    """Book episodes with these returns; θ after episode i is full of i, so that one sees whose it is."""
    algorithm = algorithm or presets.experiment("published", "ac", Spec("", 1, 2)).algorithm
    protocol = Protocol(off_policy=False, newest=newest)
    run = start(algorithm, protocol, Spec("", 1, 2), jax.random.key(0))
    records = []
    for i, total in enumerate(returns):
        learner = run.learner._replace(theta=jnp.full_like(run.learner.theta, i))
        played = Played(jnp.float32(total), jnp.int32(7), jnp.float32(3.5))
        run, record = finish_episode(protocol, run, learner, played, played, jnp.float32(1.0))
        assert record.entropy == 0.5
        records.append(record)
    return run, records


@pytest.mark.parametrize("newest", [0.1, 0.9])
def test_the_running_average_starts_at_the_first_return(newest):
    returns = [20.0, 10.0, 40.0, 0.0]
    run, records = book(returns, newest)
    average = returns[0]
    assert records[0].average == average
    for total, record in zip(returns[1:], records[1:], strict=True):
        average = newest * total + (1 - newest) * average
        assert_allclose(record.average, average, rtol=1e-6)
    assert_allclose(run.average, average, rtol=1e-6)
    assert run.train_steps == 7 * len(returns)


def test_a_first_return_below_0_is_a_start_too():
    run, _ = book([-500.0], 0.1)
    assert (run.average, run.learner.clock.best, run.best_episode) == (-500.0, -500.0, 0)


def test_the_best_checkpoint_is_that_of_the_best_average():
    run, records = book([5.0, 9.0, 30.0, 2.0, 8.0], 0.9)
    assert run.best_episode == 2
    assert_array_equal(run.best_theta, jnp.full_like(run.best_theta, 2))
    assert_array_equal(run.learner.theta, jnp.full_like(run.best_theta, 4))
    best = [float(record.best_average) for record in records]
    assert best == np.maximum.accumulate([float(record.average) for record in records]).tolist()


def test_a_tie_keeps_the_first_checkpoint():
    run, _ = book([3.0, 3.0, 1.0, 3.0], 1.0)
    assert run.best_episode == 0
    assert_array_equal(run.best_theta, jnp.zeros_like(run.best_theta))


def test_an_average_that_is_not_a_number_is_never_the_best():
    run, _ = book([3.0, jnp.nan], 1.0)
    assert run.best_episode == 0


def test_a_published_drop_fires_and_stays():
    """Once the best average is in the band θ hardly moves, whatever the returns that follow."""
    experiment = presets.experiment("published", "ac", Spec("CartPole-v1", 1, 2))
    update = jax.jit(experiment.algorithm.update)
    batch = Transition(
        observation=jnp.ones((1, 1)),
        action=jnp.zeros(1, jnp.int32),
        reward=jnp.ones(1),
        next_observation=jnp.ones((1, 1)),
        terminated=jnp.array([True]),
        truncated=jnp.array([False]),
        behaviour_prob=jnp.array([0.5]),
        step=jnp.zeros(1, jnp.int32),
    )

    def moved(returns):
        run, _ = book(returns, 0.1, experiment.algorithm)
        fresh = run.learner._replace(theta=experiment.algorithm.policy.init(jax.random.key(1)))
        after, _ = update(fresh, batch)
        theta, psi = after.theta - fresh.theta, after.value.psi - fresh.value.psi
        return float(jnp.abs(theta).max()), float(jnp.abs(psi).max())

    # Adam's first step is as long as the rate.
    assert_allclose(moved([399.0]), (1e-3, 5e-3), rtol=1e-2)
    assert_allclose(moved([400.0]), (1e-6, 1e-6), rtol=0.2)
    assert_allclose(moved([400.0] + [9.0] * 50), (1e-6, 1e-6), rtol=0.2)


def test_a_time_limit_ends_the_task_only_when_asked():
    flags = {"terminated": jnp.array([False, True, False]), "truncated": jnp.array([True, True, False])}
    batch = Transition(*[jnp.zeros(3)] * 8)._replace(**flags)
    bootstrapped = Protocol(off_policy=False).as_learned(batch)
    assert_array_equal(bootstrapped.continues, [1.0, 0.0, 1.0])
    published = Protocol(off_policy=False, time_limit_terminal=True).as_learned(batch)
    assert_array_equal(published.continues, [0.0, 0.0, 1.0])
    assert_array_equal(published.truncated, batch.truncated)


@pytest.mark.parametrize("algorithm", ["ac", "offnac"])
def test_records_have_a_row_for_each_episode_and_agree_with_the_result(algorithm, tmp_path, records):
    result = api.train(**RUN, algorithm=algorithm, out=tmp_path / "run", first_seed=5)["runs"][0]
    rows = records(tmp_path / "run" / "seed-5")
    assert list(rows) == [
        *("episode", "train_return", "train_length", "evaluation_return", "evaluation_length"),
        *("average", "best_average", "effective_sample_size", "entropy"),
    ]
    assert {name for name, column in rows.items() if column.dtype == np.int32} == {
        *("episode", "train_length", "evaluation_length")
    }
    assert_array_equal(rows["episode"], np.arange(10))
    assert rows["train_length"].sum() == result["train_steps"]
    assert np.all((rows["train_length"] >= 1) & (rows["train_length"] <= 30))
    average = rows["evaluation_return"][0]
    for i in range(1, 10):
        average = 0.1 * rows["evaluation_return"][i] + 0.9 * average
        assert_allclose(rows["average"][i], average, rtol=1e-5, atol=1e-6)
    assert_array_equal(rows["best_average"], np.maximum.accumulate(rows["average"]))
    assert result["best_average"] == rows["average"].max()
    assert result["best_episode"] == rows["average"].argmax()
    assert result["final_average"] == rows["average"][-1]
    # Two actions, π hardly moved from even: −log₂ π(a|s) is near 1, and below 0 it cannot be.
    assert np.all(rows["entropy"] > 0.0)
    assert_allclose(rows["entropy"].mean(), 1.0, atol=0.2)
    if algorithm == "ac":
        # On-policy the training episode is the one that counts.
        assert_array_equal(rows["evaluation_return"], rows["train_return"])
        assert_array_equal(rows["evaluation_length"], rows["train_length"])
        assert_array_equal(rows["effective_sample_size"], 1.0)
    else:
        assert not np.array_equal(rows["evaluation_length"], rows["train_length"])
        assert np.all((rows["effective_sample_size"] > 0) & (rows["effective_sample_size"] <= 1 + 1e-6))


def test_the_saved_best_policy_is_the_one_after_its_episode(tmp_path):
    long = api.train(**RUN, algorithm="ac", out=tmp_path / "long", first_seed=3)["runs"][0]
    until = long["best_episode"] + 1
    assert 1 < until < 10, "choose a seed whose best episode is neither the first nor the last"
    api.train(**RUN | {"episodes": until}, algorithm="ac", out=tmp_path / "short", first_seed=3)
    best, final = (load_policy(tmp_path / "long" / "seed-3" / name) for name in ("best", "final"))
    assert_array_equal(best.theta, load_policy(tmp_path / "short" / "seed-3" / "final").theta)
    assert not np.array_equal(best.theta, final.theta)
    again = api.evaluate(best, "tabular-chain", episodes=10, first_seed=3, max_steps=30)
    assert again["mean"] == long["test"]["mean"]


def test_on_policy_every_weight_is_exactly_1_in_the_compiled_loop(watched):
    environment = make("CartPole-v1", max_steps=50)
    experiment = presets.experiment("published", "nac", environment.spec)
    algorithm = watched(experiment.algorithm)
    run = start(algorithm, experiment.protocol, environment.spec, jax.random.key(0))
    run, _ = native.chunk(environment, algorithm, experiment.protocol, run, 40, capacity=64)
    assert run.train_steps > 500
    assert run.learner.direction[1] == 0.0


def test_a_checkpoint_of_an_earlier_version_lacks_what_was_not_kept(tmp_path):
    run, records = book([5.0, 9.0], 0.9)
    columns = {name: np.asarray([getattr(one, name) for one in records]) for name in Record._fields}
    del columns["entropy"]
    checkpoint.save(tmp_path / "checkpoint", run, columns)
    loaded = checkpoint.load(tmp_path / "checkpoint", run)[1]
    assert_array_equal(loaded["entropy"], [np.nan, np.nan])
    assert_array_equal(loaded["evaluation_return"], [5.0, 9.0])
