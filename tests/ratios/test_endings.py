"""Property 14, the ratios: three states in a row, one action, D uniform; how it ends decides w."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.ratios import Identity, LeastSquares, RatioData
from offnac.ratios.links import raw, restart
from offnac.transition import Spec, Transition

GAMMA = 0.9
ROW = np.array([1.0, GAMMA, GAMMA**2])

ENDINGS = {
    # (what follows state 2, terminated, truncated): d̃_π, d_π
    "termination": ((2, True, False), (1 - GAMMA) * ROW, np.ones(3) / 3),
    "termination at the time limit": ((2, True, True), (1 - GAMMA) * ROW, np.ones(3) / 3),
    # Somebody stopped looking at a task that would stay in state 2.
    "truncation": (
        (2, False, True),
        np.array([1 - GAMMA, (1 - GAMMA) * GAMMA, GAMMA**2]),
        np.array([0, 0, 1]),
    ),
    "restart": ((0, False, False), (1 - GAMMA) / (1 - GAMMA**3) * ROW, np.ones(3) / 3),
}


def episode(after, terminated, truncated) -> RatioData:
    states, last = jnp.eye(3), jnp.array([False, False, True])
    batch = Transition(
        observation=states,
        action=jnp.zeros(3, int),
        reward=jnp.zeros(3),
        next_observation=states[jnp.array([1, 2, after])],
        terminated=last & terminated,
        truncated=last & truncated,
        behaviour_prob=jnp.ones(3),
        step=jnp.arange(3),
    )
    return RatioData(batch, jnp.ones(3), states[:1], jnp.ones(3))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", ["direct", "stationary"])
def test_known_ratios(update, ending, form):
    rows, d_tilde, d = ENDINGS[ending]
    d_pi = d_tilde if form == "direct" else d
    estimator, data = LeastSquares(form, Identity(), ridge=0.0), episode(*rows)
    state = estimator.init(jax.random.key(0), Spec("chain", 3, 1))
    state, info = update(estimator, state, data, GAMMA, jax.random.key(0))
    np.testing.assert_allclose(info.mean, d_pi.sum(), rtol=1e-6)
    np.testing.assert_allclose(estimator.ratio(state, jnp.eye(3)), 3 * d_pi / d_pi.sum(), atol=1e-6)


def test_links():
    """A termination leads to d₀, a truncation nowhere; the published way, s′ as it came."""
    key = jax.random.key(0)
    ended, stopped = episode(2, True, True), episode(2, False, True)
    assert restart(ended, key).next_observation.argmax(1).tolist() == [1, 2, 0]
    assert restart(ended, key).followed.tolist() == [1, 1, 1]
    assert restart(stopped, key).followed.tolist() == [1, 1, 0]
    assert raw(ended, key).next_observation.argmax(1).tolist() == [1, 2, 2]
    assert raw(stopped, key).followed.tolist() == [1, 1, 1]
