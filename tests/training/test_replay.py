"""Replay: what is kept, what is drawn, and that a run with it can be broken off and resumed."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import api, presets
from offnac.critics import TD, Minibatches, TDLambda
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.presets import robust
from offnac.schedules import Clock, Constant
from offnac.training.host_memory import HostMemory
from offnac.training.replay import Replay
from offnac.transition import Spec, Transition

SPEC = Spec("", 1, 2)
SMALL = {"batch": 64, "minibatches": 4, "capacity": 64, "ratio_rows": 32}


def row(number, step=1, reward=None, terminated=False):
    """A batch of one whose observation is its number."""
    at = jnp.full((1, 1), float(number))
    return Transition(
        at,
        jnp.zeros(1, jnp.int32),
        jnp.full(1, float(number if reward is None else reward)),
        at + 1,
        jnp.full(1, terminated),
        jnp.zeros(1, bool),
        jnp.full(1, 0.5),
        jnp.full(1, step, jnp.int32),
    )


def filled(replay, count, **kinds):
    memory = replay.begin(replay.empty(SPEC), jnp.zeros(1))
    for number in range(count):
        memory = replay.store(memory, row(number, **kinds))
    return memory


def drawn_from(replay, memory, rows):
    return replay.sample(memory, replay.events(memory), rows, jax.random.key(0))


def test_the_newest_rows_are_kept():
    replay = Replay(capacity=8, batch=400)
    drawn = drawn_from(replay, filled(replay, 13), 400)
    assert set(np.unique(drawn.observation)) == set(range(5, 13))
    np.testing.assert_array_equal(drawn.next_observation, drawn.observation + 1)


def test_a_memory_that_is_not_full_draws_only_what_is_there():
    replay = Replay(capacity=64)
    drawn = drawn_from(replay, filled(replay, 5), 300)
    assert set(np.unique(drawn.observation)) == set(range(5))


@pytest.mark.parametrize("count", [20, 37])
def test_segments_are_consecutive_and_begin_a_trace_anew(count):
    """Also where the ring is full and a segment passes its seam."""
    replay = Replay(capacity=16, segment=4)
    drawn = drawn_from(replay, filled(replay, count), 80)
    numbers = np.asarray(drawn.observation).reshape(-1, 4)
    np.testing.assert_array_equal(np.diff(numbers, axis=1), 1)
    assert numbers.min() >= count - 16
    np.testing.assert_array_equal(np.asarray(drawn.step).reshape(-1, 4), [[0, 1, 1, 1]] * 20)


@pytest.mark.parametrize(
    ("kinds", "teaches"),
    [({"reward": -1.0}, False), ({"reward": -1.0, "terminated": True}, True), ({}, True)],
)
def test_rewards_all_alike_without_an_end_teach_nothing(kinds, teaches):
    replay = Replay(capacity=16)
    assert bool(replay.teaches(replay.events(filled(replay, 9, **kinds)))) is teaches


@pytest.mark.parametrize(("capacity", "written"), [(64, 50), (100, 100), (1024, 5000)])
def test_every_event_is_drawn_and_nothing_else(capacity, written):
    """Whatever the blocks are that events are counted by; of unwritten rows none counts."""
    replay = Replay(capacity=capacity, telling=1.0, horizon=1)
    ended = np.random.default_rng(0).random(capacity) < 0.1
    empty = replay.empty(SPEC)
    rows = empty.rows._replace(
        observation=jnp.arange(float(capacity))[:, None], terminated=jnp.asarray(ended)
    )
    drawn = drawn_from(replay, empty._replace(rows=rows, written=jnp.int32(written)), 4000)
    expected = np.flatnonzero(ended & (np.arange(capacity) < written))
    np.testing.assert_array_equal(np.unique(drawn.observation), expected)


def test_telling_rows_are_those_of_the_episode_before_an_event():
    """Two episodes of 20 steps, of which only the second ends: its last 6 rows are drawn, and no others."""
    replay = Replay(capacity=64, telling=1.0, horizon=6)
    memory = replay.begin(replay.empty(SPEC), jnp.zeros(1))
    for number in range(40):
        memory = replay.store(memory, row(number, step=number % 20, reward=-1.0, terminated=number == 39))
    drawn = drawn_from(replay, memory, 300)
    assert set(np.unique(drawn.observation)) == set(range(34, 40))
    short = filled(replay, 1, step=0, terminated=True)
    assert set(np.unique(drawn_from(replay, short, 50).observation)) == {0.0}


def test_a_host_memory_takes_an_unbooked_episode_back():
    replay = Replay(capacity=8)
    host = HostMemory(replay, replay.empty(SPEC))

    def episode(numbers):
        return [tuple(np.asarray(column[0]) for column in row(number)) for number in numbers]

    host.keep(episode(range(5)))
    host.book()
    before = host.between_episodes()
    host.keep(episode(range(10, 16)))  # passes the seam and overwrites the oldest
    assert int(host.now().written) == 11
    for one, other in zip(jax.tree.leaves(host.between_episodes()), jax.tree.leaves(before), strict=True):
        np.testing.assert_array_equal(one, other)
    host.book()
    assert int(host.between_episodes().written) == 11


def test_minibatches_are_the_critic_step_by_step():
    td = TD(MLP(1, (), 1), SGD(Constant(0.1)))
    rows = [row(number, step=number) for number in range(6)]
    batch = Transition(*(jnp.concatenate(columns) for columns in zip(*rows, strict=True)))
    w_hat, rho = jnp.linspace(0.5, 1.5, 6), jnp.linspace(1.2, 0.7, 6)
    state = one = td.init(jax.random.key(0))
    state = Minibatches(td, 3).update(state, batch, w_hat, rho, 0.9, Clock.start())
    for i in range(0, 6, 2):
        piece = jax.tree.map(lambda column, i=i: column[i : i + 2], (batch, w_hat, rho))
        one = td.update(one, *piece, 0.9, Clock.start())
    np.testing.assert_allclose(state.psi, one.psi, rtol=1e-6)


@pytest.mark.parametrize("algorithm", presets.ALGORITHMS)
def test_the_robust_preset_is_a_composition_of_the_same_roles(algorithm):
    spec = Spec("CartPole-v1", 4, 2)
    plain = presets.experiment("robust", algorithm, spec)
    traced = presets.experiment("robust", algorithm, spec, lam=0.7)
    assert type(plain.algorithm.critic.critic) is TD
    assert type(traced.algorithm.critic.critic) is TDLambda
    assert traced.protocol.replay.segment > 1 == plain.protocol.replay.segment
    assert plain.protocol.off_policy == algorithm.startswith("off")
    assert not plain.protocol.time_limit_terminal
    assert plain.episodes == 1000


@pytest.mark.parametrize(
    ("environment", "lam", "episodes"), [("tabular-chain", 0.0, 14), ("FrozenLake-v1", 0.7, 8)]
)
def test_a_run_with_replay_that_breaks_off_goes_on_as_if_nothing_had_been(
    environment, lam, episodes, tmp_path, same_seed, monkeypatch
):
    small = replace(robust.RobustRow(), actor=(4,), value=(8,), **SMALL)
    monkeypatch.setattr(robust, "row", lambda task, algorithm, lam: small)
    monkeypatch.setattr("offnac.training.lockstep.SAVE_SECONDS_WITH_MEMORY", 0.0)
    settings = {
        "preset": "robust",
        "seeds": 2,
        "episodes": episodes,
        "max_steps": 20,
        "test_episodes": 5,
        "workers": 1,
        "lam": lam,
    }
    api.train(environment, "offnac", out=tmp_path / "whole", **settings)

    class Broken(Exception):
        pass

    def breaks_off(update):
        if update.episodes >= 6:
            raise Broken

    with pytest.raises(Broken):
        api.train(environment, "offnac", out=tmp_path / "broken", report=breaks_off, **settings)
    api.train(environment, "offnac", out=tmp_path / "broken", resume=True, **settings)
    for seed in (0, 1):
        same_seed(tmp_path / "whole" / f"seed-{seed}", tmp_path / "broken" / f"seed-{seed}")
    # Broken off in its test, when it had been trained.
    (tmp_path / "broken" / "seed-1" / "result.json").unlink()
    api.train(environment, "offnac", out=tmp_path / "broken", resume=True, **settings)
    same_seed(tmp_path / "whole" / "seed-1", tmp_path / "broken" / "seed-1")
