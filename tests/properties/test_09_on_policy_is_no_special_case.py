"""π = μ: ρ ≡ 1, w ≡ ŵ ≡ 1, and OffNAC's updates are NAC's, bit for bit."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.actor_critic import ActorCritic
from offnac.critics import TD, TDLambda
from offnac.directions import Iterative, Vanilla
from offnac.environments import exact
from offnac.environments.tabular import TabularMDP
from offnac.networks import MLP
from offnac.optimisers import SGD, Adam
from offnac.policy import SoftmaxPolicy
from offnac.ratios import Identity, LeastSquares, One, RatioData, Ratios
from offnac.schedules import Clock, Constant
from offnac.settings import settings
from offnac.steps import Free
from offnac.transition import Spec, Transition

STEPS, SPEC = 400, Spec("stream", 2, 3)


def algorithm_2(learner, state, batch):
    """OffNAC, told that the data is μ's and what μ(a|s) was."""
    return learner.update(state, batch)[0]


def algorithm_1(learner, state, batch):
    """NAC: no μ, no ŵ, no w anywhere."""
    # A number, not a constant: the compiler would round a program without the products differently.
    one = jax.lax.optimization_barrier(jnp.ones_like(batch.reward))
    theta, gamma, clock = state.theta, learner.gamma, state.clock
    value = learner.critic.update(state.value, batch, jnp.ones_like(one), one, gamma, clock)
    delta = learner.critic.delta(value, batch, gamma)
    direction, x = learner.direction.update(state.direction, learner.policy, theta, batch, one, delta, clock)
    step, theta = learner.step.update(state.step, learner.policy, theta, batch, one, x, clock)
    clock = clock._replace(step=clock.step + 1)
    return state._replace(theta=theta, value=value, direction=direction, step=step, clock=clock)


# Compiled as users' programs are: which numbers are rounded alike is up to the compiler.
@partial(jax.jit, static_argnums=0, compiler_options={"xla_cpu_use_fusion_emitters": True})
def stream(update, learner, state, rows, keys):
    """Act with π, learn from every step: the state after the last one, and what happened."""

    def step(state, inputs):
        row, key = inputs
        action, prob = learner.policy.sample(state.theta, row.observation, key)
        row = row._replace(action=action, behaviour_prob=prob, reward=row.reward + action)
        return update(learner, state, row), (state.theta, action, prob)

    return jax.lax.scan(step, state, (rows, keys))


def scenery(n):
    """(s, r, s′) and how episodes end, as n batches of one; in float32, as learners run."""
    rng = np.random.default_rng(5)
    s = rng.normal(size=(n + 1, 1, 2)).astype(np.float32)
    reward = rng.normal(size=(n, 1)).astype(np.float32)
    terminated, truncated = rng.random((2, n, 1)) < 0.05
    step = np.where(np.roll(terminated | truncated, 1), 0, 1)
    return Transition(s[:-1], None, reward, s[1:], terminated, truncated, None, step)


def learner_of(critic_optimiser, actor_optimiser, lam=None, direction=None):
    td = TD(MLP(2, (8,), 1, activation="relu"), critic_optimiser)
    return ActorCritic(
        policy=SoftmaxPolicy(MLP(2, (4,), 3, bias=False)),
        ratios=Ratios(One(), One()),
        critic=td if lam is None else TDLambda(td, lam),
        direction=direction or Iterative(critic_optimiser, random_start=True),
        step=Free(actor_optimiser),
        gamma=0.9,
    )


SLOW, FAST = SGD(Constant(0.01)), SGD(Constant(0.05))
LEARNERS = {
    "NAC": learner_of(FAST, SLOW),
    "NAC with Adam": learner_of(Adam(Constant(0.01)), Adam(Constant(0.001))),
    "NAC(λ)": learner_of(FAST, SLOW, lam=0.8),
    "AC": learner_of(FAST, SLOW, direction=Vanilla()),
}


@pytest.mark.optimised
@pytest.mark.parametrize("name", LEARNERS)
def test_off_policy_updates_are_the_on_policy_ones_bit_for_bit(name):
    with jax.enable_x64(False):
        learner, rows = LEARNERS[name], scenery(STEPS)
        start, keys = learner.init(jax.random.key(1), SPEC), jax.random.split(jax.random.key(2), STEPS)
        on, off = (stream(update, learner, start, rows, keys) for update in (algorithm_1, algorithm_2))
        assert not jnp.array_equal(on[0].theta, start.theta)
        assert all(map(np.array_equal, jax.tree.leaves(off), jax.tree.leaves(on)))


def test_rho_is_exactly_one():
    """Sampled in one program and weighted in another, over the same batch."""
    with jax.enable_x64(False):
        policy = SoftmaxPolicy(MLP(2, (16,), 3, bias=False))
        theta = 5.0 * policy.init(jax.random.key(0))
        observation = jax.random.normal(jax.random.key(1), (1000, 2))
        action, prob = jax.jit(policy.sample)(theta, observation, jax.random.key(2))
        batch = Transition(observation, action, None, None, None, None, prob, None)
        assert (policy.probability_ratio(theta, batch) == 1.0).all()


@settings
class Known:
    """w(s) = exp(cᵀs), for all that is known about it."""

    c: jax.Array

    def init(self, key, spec):
        return ()

    def ratio(self, state, observations):
        return jnp.exp(observations @ self.c)


def by_hand(state, data, w_hat, w):
    """Steps 11 to 16 of Algorithm 2, written out in NumPy for linear V and linear logits."""
    alpha, beta, gamma = 0.05, 0.01, 0.9
    theta, psi, x = (np.asarray(v) for v in (state.theta, state.value.psi, state.direction.x))
    theta, x = theta.reshape(3, 2), x.reshape(3, 2)
    for s, a, r, s_next, ended, prob in zip(*data, strict=True):
        logits = theta @ s
        pi = np.exp(logits - logits.max())
        pi /= pi.sum()
        rho = pi[a] / prob
        psi = psi + alpha * w_hat(s) * rho * (r + gamma * (1 - ended) * psi @ s_next - psi @ s) * s
        f = np.outer(np.eye(3)[a] - pi, s)
        delta = r + gamma * (1 - ended) * psi @ s_next - psi @ s
        x = x + alpha * w(s) * rho * (delta - np.sum(x * f)) * f
        theta = theta + beta * x
    return theta.ravel(), psi, x.ravel()


@pytest.mark.parametrize("weighted", [False, True])
def test_update_reads_as_the_algorithm(weighted):
    """Against NumPy: with w ≡ ŵ ≡ 1, and with known ŵ and w."""
    rng = np.random.default_rng(0)
    n, c_hat, c = 300, 0.1 * rng.normal(size=2), 0.1 * rng.normal(size=2)
    data = (
        rng.normal(size=(n, 2)),
        rng.integers(3, size=n),
        rng.normal(size=n),
        rng.normal(size=(n, 2)),
        rng.random(n) < 0.1,
        rng.uniform(0.2, 0.6, n),
    )
    ratios = Ratios(Known(jnp.asarray(c_hat)), Known(jnp.asarray(c))) if weighted else Ratios(One(), One())
    learner = ActorCritic(
        policy=SoftmaxPolicy(MLP(2, (), 3, bias=False)),
        ratios=ratios,
        critic=TD(MLP(2, (), 1, bias=False), SGD(Constant(0.05))),
        direction=Iterative(SGD(Constant(0.05)), random_start=True),
        step=Free(SGD(Constant(0.01))),
        gamma=0.9,
    )
    state = learner.init(jax.random.key(0), SPEC)
    s, a, r, s_next, ended, prob = (jnp.asarray(v)[:, None] for v in data)
    rows = Transition(s, a, r, s_next, ended, jnp.zeros_like(ended), prob, jnp.ones((n, 1), int))
    final, _ = jax.jit(lambda state: jax.lax.scan(learner.update, state, rows))(state)

    w_hat = (lambda s: np.exp(c_hat @ s)) if weighted else (lambda s: 1.0)
    w = (lambda s: np.exp(c @ s)) if weighted else (lambda s: 1.0)
    theta, psi, x = by_hand(state, data, w_hat, w)
    np.testing.assert_allclose(final.theta, theta, rtol=1e-10)
    np.testing.assert_allclose(final.value.psi, psi, rtol=1e-10)
    np.testing.assert_allclose(final.direction.x, x, rtol=1e-10)


def test_least_squares_ratios_are_one(finite, every_transition):
    """Estimated from π's own data, started from its stationary distribution so that d̃_π = d_π = D."""
    mdp, pi = finite.mdp, finite.pi
    mdp = TabularMDP(mdp.P, mdp.r, mdp.d0, jnp.zeros_like(mdp.terminates))
    d = exact.stationary(mdp, pi)
    batch, p = every_transition(mdp, d, pi)
    key, rho = jax.random.key(0), jnp.ones_like(p)
    # d₀ as draws: states in proportion to d_π, to a hundred-thousandth.
    counts = np.round(1e5 * np.asarray(d)).astype(int)
    initial = jnp.repeat(jnp.eye(len(d)), counts, axis=0)
    ratios = Ratios(LeastSquares("stationary", Identity()), LeastSquares("direct", Identity()))
    data = RatioData(batch, rho, initial, p)
    state, _ = jax.jit(ratios.update)(ratios.init(key, mdp.spec), data, 0.9, key, Clock.start())
    w_hat, w = ratios.weights(state, jnp.eye(len(d)))
    np.testing.assert_allclose(w_hat, 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(w, 1.0, rtol=0, atol=1e-4)
