"""Value critics: bounded targets, the slow target network, the clipped trace."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.critics import TD, TDLambda
from offnac.critics.td import reward_bounds
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.schedules import Clock, Constant
from offnac.transition import Transition

GAMMA = 0.9
LINEAR = MLP(2, (), 1, bias=False)
CLOCK = Clock.start()


def rows(observation, reward, next_observation, terminated=None, step=None):
    n = len(reward)
    no = jnp.zeros(n, bool)
    return Transition(
        observation=jnp.asarray(observation, jnp.float32),
        action=jnp.zeros(n, int),
        reward=jnp.asarray(reward, jnp.float32),
        next_observation=jnp.asarray(next_observation, jnp.float32),
        terminated=no if terminated is None else jnp.asarray(terminated),
        truncated=no,
        behaviour_prob=jnp.ones(n),
        step=jnp.arange(1, n + 1) if step is None else jnp.asarray(step),
    )


def test_td_is_step_12_of_algorithm_2():
    """ψ + α mean[ŵρδ∇V]."""
    rng = np.random.default_rng(0)
    s, s_next, r = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=5)
    ended, (w_hat, rho) = np.array([0, 1, 0, 0, 1], bool), rng.uniform(0.5, 2.0, (2, 5))
    critic = TD(LINEAR, SGD(Constant(0.1)))
    state = critic.init(jax.random.key(0))
    psi = np.asarray(state.psi, float)
    delta = r + GAMMA * (1 - ended) * (s_next @ psi) - s @ psi
    after = critic.update(
        state, rows(s, r, s_next, ended), jnp.asarray(w_hat), jnp.asarray(rho), GAMMA, CLOCK
    )
    np.testing.assert_allclose(after.psi, psi + 0.1 * (w_hat * rho * delta) @ s / 5, rtol=1e-5)
    assert after.target is None


def test_delta_is_a_semi_gradient():
    """The target does not move along: no gradient through V(s′)."""
    critic = TD(LINEAR, SGD(Constant(1.0)))
    state = critic.init(jax.random.key(0))
    batch = rows([[0.0, 1.0]], [1.0], [[1.0, 0.0]])
    after = critic.update(state, batch, jnp.ones(1), jnp.ones(1), GAMMA, CLOCK)
    assert after.psi[0] == state.psi[0] and after.psi[1] != state.psi[1]


@pytest.mark.parametrize(
    ("seen", "bounds"),
    [
        ((-1.0, -1.0), (-10.0, -1.0)),  # a task of −1 a step: at once, or never
        ((0.0, 1.0), (0.0, 10.0)),
        ((1.0, 1.0), (1.0, 10.0)),
        ((-2.0, 3.0), (-20.0, 30.0)),
    ],
)
def test_reward_bounds(seen, bounds):
    np.testing.assert_allclose(reward_bounds(jnp.array(seen), GAMMA), bounds, rtol=1e-5)


def test_bounded_targets_stay_within_what_rewards_allow():
    critic = TD(LINEAR, SGD(Constant(0.1)), bounded=True)
    state = critic.init(jax.random.key(0))._replace(psi=jnp.array([100.0, -100.0]))
    batch = rows([[1.0, 0.0], [0.0, 1.0]], [-1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
    state = critic.observe(state, batch)
    np.testing.assert_array_equal(state.rewards, [-1.0, 2.0])
    np.testing.assert_allclose(critic.target(state, batch, GAMMA), [20.0, -10.0], rtol=1e-5)
    np.testing.assert_allclose(critic.delta(state, batch, GAMMA), [20.0 - 100.0, -10.0 + 100.0], rtol=1e-5)
    # The range only widens, and a value that is allowed is left alone.
    narrower = rows([[1.0, 0.0]], [0.5], [[1.0, 0.0]])
    np.testing.assert_array_equal(critic.observe(state, narrower).rewards, [-1.0, 2.0])
    calm = state._replace(psi=jnp.array([3.0, 3.0]))
    np.testing.assert_allclose(critic.target(calm, batch, GAMMA), [-1.0 + 2.7, 2.0 + 2.7], rtol=1e-5)


def test_bounded_targets_stop_off_policy_divergence():
    """ψ → 2ψ: V(s) = ψ leads to V(s′) = 2ψ, the smallest example that TD(0) cannot bear off-policy."""
    network, batch = MLP(1, (), 1, bias=False), rows([[1.0]], [0.0], [[2.0]])
    one = jnp.ones(1)

    def learn(critic):
        state = critic.init(jax.random.key(0))._replace(psi=jnp.ones(1))
        update = jax.jit(lambda state, _: (critic.update(state, batch, one, one, 0.99, CLOCK), None))
        return jax.lax.scan(update, state, length=300)[0].psi[0]

    assert learn(TD(network, SGD(Constant(0.1)))) > 1e6
    assert abs(learn(TD(network, SGD(Constant(0.1)), bounded=True))) < 1e-3


def test_target_network_follows_slowly():
    tau = 0.1
    critic = TD(LINEAR, SGD(Constant(0.5)), target_rate=tau)
    state = critic.init(jax.random.key(0))
    np.testing.assert_array_equal(state.target, state.psi)
    batch = rows([[1.0, 0.0]], [1.0], [[0.0, 1.0]])
    one = jnp.ones(1)
    for _ in range(3):
        old = state
        np.testing.assert_allclose(
            critic.delta(old, batch, GAMMA), 1.0 + GAMMA * old.target[1:] - old.psi[:1], rtol=1e-5
        )
        state = critic.update(old, batch, one, one, GAMMA, CLOCK)
        np.testing.assert_allclose(state.target, (1 - tau) * old.target + tau * state.psi, rtol=1e-6)
    assert not jnp.array_equal(state.target, state.psi)


def test_a_target_rate_of_one_is_no_target_network():
    plain, slow = (TD(LINEAR, SGD(Constant(0.5)), target_rate=rate) for rate in (None, 1.0))
    batch, one = rows([[1.0, 0.0]], [1.0], [[0.0, 1.0]]), jnp.ones(1)
    a, b = plain.init(jax.random.key(0)), slow.init(jax.random.key(0))
    for _ in range(3):
        a, b = (c.update(s, batch, one, one, GAMMA, CLOCK) for c, s in ((plain, a), (slow, b)))
    np.testing.assert_allclose(a.psi, b.psi, rtol=1e-6)


@pytest.mark.parametrize("clip", [False, True])
def test_clipped_traces_cannot_explode(clip):
    """|∇V| = 1 and ρ = 2 at every step: γλρ > 1 grows without end, γλ·min(1,ρ) does not."""
    n, lam = 130, 0.9
    td = TD(MLP(1, (), 1, bias=False), SGD(Constant(0.0)))
    critic = TDLambda(td, lam, clip=clip)
    batch = rows(np.ones((n, 1)), np.zeros(n), np.ones((n, 1)))
    one = jnp.ones(n)
    z = critic.update(critic.init(jax.random.key(0)), batch, one, 2.0 * one, GAMMA, CLOCK).z
    if clip:
        np.testing.assert_allclose(z, 1.0 / (1.0 - GAMMA * lam), rtol=1e-5)
    else:
        assert z[0] > 1e25


def test_clip_leaves_small_ratios_alone():
    rng = np.random.default_rng(0)
    batch = rows(rng.normal(size=(6, 2)), rng.normal(size=6), rng.normal(size=(6, 2)))
    w_hat, rho = jnp.asarray(rng.uniform(0.2, 1.0, (2, 6)), jnp.float32)
    clipped, plain = (TDLambda(TD(LINEAR, SGD(Constant(0.1))), 0.7, clip=clip) for clip in (True, False))
    state = plain.init(jax.random.key(0))
    a, b = (critic.update(state, batch, w_hat, rho, GAMMA, CLOCK) for critic in (clipped, plain))
    np.testing.assert_array_equal(a.psi, b.psi)
    np.testing.assert_array_equal(a.z, b.z)
