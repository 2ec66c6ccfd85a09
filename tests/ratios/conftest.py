"""Finite MDPs whose ratios are known, and all their transitions as one weighted batch, in float64."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.environments import exact
from offnac.environments.tabular import TabularMDP
from offnac.ratios import RatioData
from offnac.schedules import Clock
from offnac.transition import Transition

STATES, ACTIONS, GAMMA = 6, 2, 0.9


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


@jax.jit
def update(estimator, state, data, gamma, key):
    return estimator.update(state, data, gamma, key, Clock.start())


@pytest.fixture(name="update")
def update_fixture():
    """One update, compiled once for all estimators and data of one shape."""
    return update


class Finite(NamedTuple):
    """An MDP that starts in state 0, so that one row of ``initial`` is the whole of d₀."""

    mdp: TabularMDP
    pi: jax.Array
    mu: jax.Array
    gamma: float = GAMMA

    @property
    def states(self):
        """Every state's observation."""
        return self.mdp.observe(jnp.arange(len(self.mdp.d0)))

    def discounted(self, policy):
        """d̃ as a distribution over states: what termination takes away is divided out."""
        d = exact.discounted_visitation(self.mdp, policy, self.gamma)
        return d / d.sum()

    def stationary(self, policy):
        return exact.stationary(self.mdp, policy)

    def data(self, D, pi=None) -> RatioData:
        """Every (s, a, s′) with weight D(s) μ(a|s) P(s′|s,a): an expectation over D, exactly."""
        s, a, s_next = (i.ravel() for i in jnp.indices(self.mdp.P.shape))
        batch = Transition(
            observation=self.mdp.observe(s),
            action=a,
            reward=self.mdp.r[s, a],
            next_observation=self.mdp.observe(s_next),
            terminated=self.mdp.terminates[s, a, s_next],
            truncated=jnp.zeros(len(s), bool),
            behaviour_prob=self.mu[s, a],
            step=jnp.ones(len(s), jnp.int32),
        )
        pi = self.pi if pi is None else pi
        weight = (D[:, None, None] * self.mu[:, :, None] * self.mdp.P).ravel()
        return RatioData(batch, (pi / self.mu)[s, a], self.states[:1], weight)

    def sampled(self, D, n, seed) -> RatioData:
        """n independent transitions, as counts of the same rows."""
        data = self.data(D)
        p = np.asarray(data.weight)
        counts = np.random.default_rng(seed).multinomial(n, p / p.sum())
        return data._replace(weight=jnp.asarray(counts, data.weight.dtype))

    def error(self, D, w, exact_ratio):
        """√E_D[(w − w*)²]."""
        return jnp.sqrt(D @ (w - exact_ratio) ** 2)


def build(termination: float) -> Finite:
    rng = np.random.default_rng(7)
    mdp = TabularMDP(
        P=jnp.asarray(rng.dirichlet(np.full(STATES, 0.5), (STATES, ACTIONS))),
        r=jnp.asarray(rng.normal(size=(STATES, ACTIONS))),
        d0=jnp.zeros(STATES).at[0].set(1.0),
        terminates=jnp.asarray(rng.random((STATES, ACTIONS, STATES)) < termination),
    )
    pi, mu = (jnp.asarray(0.1 + 0.8 * rng.dirichlet(np.ones(ACTIONS), STATES)) for _ in range(2))
    return Finite(mdp, pi, mu)


@pytest.fixture(params=[0.0, 0.15], ids=["continuing", "terminating"])
def finite(request) -> Finite:
    return build(request.param)


@pytest.fixture
def terminating() -> Finite:
    return build(0.15)


@pytest.fixture
def continuing() -> Finite:
    return build(0.0)


@pytest.fixture
def anywhere():
    """A data distribution that no policy has."""
    return jnp.asarray(np.random.default_rng(1).dirichlet(np.full(STATES, 5.0)))
