"""Running averages, and curves thinned."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from offnac.experiments.curves import running_average, thin
from offnac.experiments.summary import _summarise_episodes, episodes_to

returns = st.lists(st.floats(-1e4, 1e4), max_size=30)


@given(returns, st.sampled_from([0.1, 0.9, 1.0]))
def test_the_running_average_is_the_recursion(values, newest):
    expected = []
    for value in values:
        expected.append(newest * value + (1 - newest) * expected[-1] if expected else value)
    assert_allclose(running_average(values, newest), expected, rtol=1e-9, atol=1e-9)


def test_episodes_are_counted_from_one_and_never_is_infinite():
    assert episodes_to(100.0, [5.0, 99.996, 200.0]) == 2
    assert episodes_to(-200.0, [-200.0]) == 1
    assert episodes_to(100.0, [5.0, 99.0]) is None
    assert _summarise_episodes([3, None, 5]) == {"seeds": [3, None, 5], "median": 5.0, "share": 2 / 3}
    assert _summarise_episodes([3, None, None])["median"] is None
    assert _summarise_episodes([None, 3])["median"] is None


@pytest.mark.parametrize("lengths", [[1], [200], [201, 1000], [1000, 1, 1000, 37]])
def test_a_thinned_curve_keeps_its_ends(lengths):
    table = pa.table(
        {
            "seed": np.repeat(np.arange(len(lengths)) % 2, lengths),
            "episode": np.concatenate([np.arange(length) for length in lengths]),
        }
    )
    thinned = thin(table, 200)
    assert thinned.num_rows == sum(min(length, 200) for length in lengths)
    episodes = thinned["episode"].to_pylist()
    runs = np.split(episodes, [i for i in range(1, len(episodes)) if episodes[i] == 0])
    for length, run in zip(lengths, runs, strict=True):
        assert (run[0], run[-1]) == (0, length - 1)
        assert len(run) == 1 or np.ptp(np.diff(run)) <= 1


def test_neighbouring_runs_of_one_episode_are_told_apart():
    assert thin(pa.table({"seed": [4, 4, 4], "episode": [0, 0, 0]}), 2).num_rows == 3
