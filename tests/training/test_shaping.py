"""Shaped rewards: what errata row 21 says, learned from and never scored."""

import jax.numpy as jnp
import pytest

from offnac import api, presets
from offnac.errors import UserError
from offnac.training.shaping import OFF_POLICY, ON_POLICY
from offnac.transition import Spec, Transition

POSITIONS = (-0.5, 0.1, 0.39, 0.4, 0.5, 0.5)


def rows():
    n = len(POSITIONS)
    position = jnp.stack([jnp.asarray(POSITIONS), jnp.zeros(n)], axis=1)
    ended = jnp.arange(n) == n - 1
    ones, zeros = jnp.ones(n), jnp.zeros(n, bool)
    return Transition(position, zeros.astype(int), -ones, position, ended, zeros, ones, jnp.arange(n))


def test_off_policy_positions_and_the_goal_are_rewarded():
    assert OFF_POLICY(rows()).reward.tolist() == [-1, 9, 9, 19, 19, 999]


def test_on_policy_only_the_goal_is():
    assert ON_POLICY(rows()).reward.tolist() == [-1, -1, -1, -1, -1, 999]


@pytest.mark.parametrize(("algorithm", "shaping"), [("nac", ON_POLICY), ("offnac", OFF_POLICY)])
def test_the_preset_is_the_published_one_on_other_rewards(algorithm, shaping):
    spec = Spec("MountainCar-v0", 2, 3)
    shaped, published = (presets.experiment(name, algorithm, spec) for name in ("shaped", "published"))
    assert shaped.algorithm == published.algorithm
    assert shaped.protocol.shaping == shaping and published.protocol.shaping is None


def test_returns_are_the_tasks_own(tmp_path):
    request = {"algorithm": "nac", "preset": "shaped", "max_steps": 50, "episodes": 2, "test_episodes": 2}
    result = api.train("MountainCar-v0", **request, out=tmp_path / "run")
    assert result["runs"][0]["final_average"] == -50.0


def test_other_tasks_were_not_shaped():
    with pytest.raises(UserError, match="only MountainCar-v0 had shaped rewards"):
        presets.experiment("shaped", "nac", Spec("CartPole-v1", 4, 2))
