"""A finite MDP, an actor too small for it, and every expectation as one weighted batch, in float64."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.environments import exact
from offnac.environments.tabular import TabularMDP
from offnac.networks import MLP, size
from offnac.policy import SoftmaxPolicy
from offnac.transition import Transition

STATES, ACTIONS, SEEN, HIDDEN = 6, 3, 2, 2
GAMMA = 0.9


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


class Expectation(NamedTuple):
    """E_D as a batch: the mean of its rows (s, a, s′), weighted by ``p``, is Σ d(s) μ(a|s) P(s′|s,a)."""

    batch: Transition
    p: jax.Array
    omega: jax.Array
    """p · w(s) · ρ(s,a)."""
    delta: jax.Array
    """δ at the exact V_π: a sample of A(s,a), not A itself."""


class Finite(NamedTuple):
    mdp: TabularMDP
    policy: SoftmaxPolicy
    theta: jax.Array
    mu: jax.Array
    gamma: float
    pi: jax.Array
    phi: jax.Array
    """φ(s,a), in full."""
    d_pi: jax.Array
    """d̃_π."""
    d_mu: jax.Array
    """d̃_μ."""

    @property
    def A(self):
        return exact.advantage(self.mdp, self.pi, self.gamma)

    @property
    def F(self):
        return exact.fisher(self.phi, self.d_pi, self.pi)

    @property
    def g(self):
        return exact.gradient(self.phi, self.d_pi, self.pi, self.A)

    @property
    def w(self):
        return self.d_pi / self.d_mu

    def expectation(self, d, mu, w) -> Expectation:
        """s ~ d, a ~ μ, weighted by w(s)ρ(s,a)."""
        return expectation(self.mdp, self.policy, self.theta, self.pi, d, mu, w)

    def on_policy(self) -> Expectation:
        return self.expectation(self.d_pi, self.pi, jnp.ones(STATES))

    def off_policy(self) -> Expectation:
        return self.expectation(self.d_mu, self.mu, self.w)


def every_transition(mdp: TabularMDP, d, mu) -> tuple[Transition, jax.Array]:
    """All rows (s, a, s′) and n d(s) μ(a|s) P(s′|s,a), so that a mean over the n rows is E_D."""
    states, actions = mdp.r.shape
    s, a, s_next = (i.ravel() for i in jnp.indices((states, actions, states)))
    batch = Transition(
        observation=mdp.observe(s),
        action=a,
        reward=mdp.r[s, a],
        next_observation=mdp.observe(s_next),
        terminated=mdp.terminates[s, a, s_next],
        truncated=jnp.zeros(len(s), bool),
        behaviour_prob=mu[s, a],
        step=jnp.ones(len(s), jnp.int32),
    )
    return batch, len(s) * (d[:, None, None] * mu[:, :, None] * mdp.P).ravel()


@jax.jit
def expectation(mdp, policy, theta, pi, d, mu, w) -> Expectation:
    batch, p = every_transition(mdp, d, mu)
    s, _, s_next = (i.ravel() for i in jnp.indices(mdp.P.shape))
    V = exact.value(mdp, pi, GAMMA)
    omega = p * w[s] * policy.probability_ratio(theta, batch)
    return Expectation(batch, p, omega, batch.reward + GAMMA * batch.continues * V[s_next] - V[s])


def all_features(policy, theta, mdp):
    """φ(s,a) for every s and a."""
    states, actions = mdp.r.shape
    s, a = (i.ravel() for i in jnp.indices((states, actions)))
    rows = Transition(mdp.observe(s), a, *[None] * 6)
    return compatible.features(policy, theta, rows).reshape(states, actions, -1)


@pytest.fixture(scope="session", name="every_transition")
def every_transition_fixture():
    return every_transition


@pytest.fixture(scope="session")
def finite() -> Finite:
    """|S|(|A|−1) = 12, but the actor sees two numbers through two hidden units: rank(F) = 8 of k = 10."""
    return build(MLP(SEEN, (HIDDEN,), ACTIONS, bias=False), rank=8, seed=28)


@pytest.fixture(scope="session")
def linear() -> Finite:
    """Logits linear in what is seen: rank(F) = 4 of k = 6, and well conditioned."""
    return build(MLP(SEEN, (), ACTIONS, bias=False), rank=4, seed=51)


@jax.jit
def exact_parts(mdp, policy, theta, mu):
    pi = jnp.exp(policy.log_probabilities(theta, mdp.observe(jnp.arange(STATES))))
    d_pi = exact.discounted_visitation(mdp, pi, GAMMA)
    d_mu = exact.discounted_visitation(mdp, mu, GAMMA)
    return pi, all_features(policy, theta, mdp), d_pi, d_mu


def build(network: MLP, rank: int, seed: int) -> Finite:
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        mdp = TabularMDP(
            P=jnp.asarray(rng.dirichlet(np.full(STATES, 0.5), (STATES, ACTIONS))),
            r=jnp.asarray(rng.normal(size=(STATES, ACTIONS))),
            d0=jnp.asarray(rng.dirichlet(np.ones(STATES))),
            terminates=jnp.asarray(rng.random((STATES, ACTIONS, STATES)) < 0.1),
            observations=jnp.asarray(rng.normal(size=(STATES, SEEN))),
        )
        mu = jnp.asarray(0.1 + 0.7 * rng.dirichlet(np.full(ACTIONS, 0.5), STATES))
        policy, theta = SoftmaxPolicy(network), jnp.asarray(rng.uniform(-1, 1, size(network)))
        finite = Finite(mdp, policy, theta, mu, GAMMA, *exact_parts(mdp, policy, theta, mu))

        # With rank(F) = |S|(|A|−1) features would represent A exactly, and no wrong weight would show.
        assert np.linalg.matrix_rank(finite.F, hermitian=True) == rank < STATES * (ACTIONS - 1)
        A = np.asarray(finite.A).ravel()
        phi = np.asarray(finite.phi).reshape(A.size, -1)
        assert np.abs(A - phi @ np.linalg.lstsq(phi, A)[0]).max() > 0.1
        return finite
