"""A log is the design's table, in order, with the probabilities that the actions were taken by."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from offnac import api
from offnac.logs import collect as log_collect

OBSERVATION = {"tabular-chain": 8, "CartPole-v1": 4, "FrozenLake-v1": 16}


def columns(path):
    """The log's columns as arrays, vectors as rows of a matrix."""
    table = pq.read_table(path)
    found = {}
    for name in table.column_names:
        values = table[name].combine_chunks()
        is_vector = pa.types.is_fixed_size_list(values.type)
        found[name] = (
            values.flatten().to_numpy().reshape(len(values), -1)
            if is_vector
            else values.to_numpy(zero_copy_only=False)
        )
    return found


def require_order(log):
    """Steps count from 0 in each episode, episodes from 0 in the log; a new one begins where one ended."""
    ended = log["terminated"] | log["truncated"]
    assert (log["episode"][0], log["step"][0]) == (0, 0)
    assert_array_equal(np.diff(log["episode"]), ended[:-1])
    assert_array_equal(log["step"][1:], np.where(ended[:-1], 0, log["step"][:-1] + 1))
    within = ~ended[:-1]
    assert_array_equal(log["next_observation"][:-1][within], log["observation"][1:][within])


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """A log that reaches into a second block."""
    path = tmp_path_factory.mktemp("log") / "chain.parquet"
    return path, api.collect("tabular-chain", steps=log_collect.BLOCK + 100, out=path, first_seed=3)


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The same of a simulator of Gymnasium."""
    path = tmp_path_factory.mktemp("log") / "lake.parquet"
    return path, api.collect(
        "FrozenLake-v1", steps=log_collect.BLOCK // 16 + 50, out=path, first_seed=3, max_steps=20
    )


@pytest.fixture(params=["native", "host"])
def collected(request):
    return request.getfixturevalue(request.param)


def test_the_schema_is_the_designs(collected):
    path, summary = collected
    schema = pq.read_schema(path)
    vector = pa.list_(pa.float32(), OBSERVATION[summary["environment"]])
    assert {field.name: field.type for field in schema} == {
        "episode": pa.int64(),
        "step": pa.int32(),
        "observation": vector,
        "action": pa.int32(),
        "reward": pa.float32(),
        "terminated": pa.bool_(),
        "truncated": pa.bool_(),
        "behaviour_prob": pa.float32(),
        "next_observation": vector,
    }
    assert schema.metadata[b"offnac.environment"] == summary["environment"].encode()
    assert schema.metadata[b"offnac.behaviour"] == b"uniform"
    assert schema.metadata[b"offnac.seed"] == b"3"


def test_steps_and_episodes_are_in_order(collected):
    require_order(columns(collected[0]))


def test_rows_are_exactly_as_many_as_asked_for(collected):
    path, summary = collected
    log = columns(path)
    wanted = {"tabular-chain": log_collect.BLOCK + 100, "FrozenLake-v1": log_collect.BLOCK // 16 + 50}
    assert len(log["step"]) == summary["rows"] == wanted[summary["environment"]]
    assert summary["episodes"] == log["episode"][-1] + 1


def test_the_last_episode_is_marked_as_cut(collected):
    log = columns(collected[0])
    assert log["truncated"][-1]
    assert not log["terminated"][-1]
    limit = {8: 100, 16: 20}[log["observation"].shape[1]]
    assert log["step"][-1] + 1 < limit, "the last episode should end by the log's end, not by its own"
    # Nothing else is cut but by the time limit.
    others = log["truncated"][:-1]
    assert_array_equal(others, log["step"][:-1] + 1 == limit)


def test_the_mean_return_is_that_of_whole_episodes(collected):
    path, summary = collected
    log = columns(path)
    returns = np.bincount(log["episode"], weights=log["reward"])
    assert_allclose(summary["mean_return"], returns[:-1].mean())


def test_uniform_actions_have_their_exact_probability(collected):
    log = columns(collected[0])
    actions = {8: 2, 16: 4}[log["observation"].shape[1]]
    assert set(log["behaviour_prob"]) == {np.float32(1 / actions)}
    counts = np.bincount(log["action"], minlength=actions)
    n = len(log["action"])
    assert len(counts) == actions
    assert np.all(np.abs(counts / n - 1 / actions) < 5 * (1 / actions / n) ** 0.5)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_seed_determines_the_log_and_a_shorter_one_is_its_beginning(collected, seed, tmp_path):
    long, environment = columns(collected[0]), collected[1]["environment"]
    limit = {"FrozenLake-v1": 20}.get(environment)
    api.collect(environment, steps=100, out=tmp_path / "log", first_seed=seed, max_steps=limit)
    short = columns(tmp_path / "log")
    same = all(np.array_equal(short[name][:-1], long[name][:99]) for name in short)
    assert same == (seed == 3)


@pytest.mark.parametrize("epsilon", [None, 0.0, 0.3, 1.0])
def test_a_policys_actions_have_their_exact_probability(epsilon, chain_policy, tmp_path):
    chain_policy.save(tmp_path / "policy")
    behaviour = str(tmp_path / "policy") + ("" if epsilon is None else f":{epsilon}")
    summary = api.collect("tabular-chain", steps=3000, out=tmp_path / "log", behaviour=behaviour)
    log = columns(tmp_path / "log")
    require_order(log)
    assert summary["behaviour"] == behaviour
    share = epsilon or 0.0
    mu = (1 - share) * chain_policy.probabilities(log["observation"]) + share / 2
    wanted = mu[np.arange(len(mu)), log["action"]]
    assert_allclose(log["behaviour_prob"], wanted, rtol=1e-6)
    # The actions were really drawn with them.
    assert abs(np.sum(log["action"] - mu[:, 1])) < 5 * np.sum(mu[:, 0] * mu[:, 1]) ** 0.5


def test_a_folder_name_may_hold_a_colon(chain_policy, tmp_path):
    for name in ("run:best", "run:0.5:final"):
        chain_policy.save(tmp_path / name)
        api.collect("tabular-chain", steps=10, out=tmp_path / f"{name}.log", behaviour=str(tmp_path / name))


def test_a_whole_last_episode_is_not_marked_as_cut(tmp_path):
    api.collect("probe-discount", steps=6, out=tmp_path / "log")
    log = columns(tmp_path / "log")
    assert_array_equal(log["terminated"], [False, True] * 3)
    assert_array_equal(log["truncated"], [False] * 6)
    assert_array_equal(log["observation"].ravel(), [-1, 1] * 3)
    assert_array_equal(log["reward"], [0, 1] * 3)


@pytest.mark.parametrize(
    ("environment", "error"),
    [("tabular-chain", OSError(28, "No space left on device")), ("FrozenLake-v1", KeyboardInterrupt)],
)
def test_an_interrupted_log_is_not_there(environment, error, tmp_path):
    def interrupt(rows):
        raise error

    with pytest.raises(BaseException) as raised:
        api.collect(environment, steps=10, out=tmp_path / "log", report=interrupt)
    assert isinstance(raised.value, KeyboardInterrupt | OSError)
    assert list(tmp_path.iterdir()) == []
