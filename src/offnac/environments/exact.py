"""Exact answers on a finite MDP for a policy table π, by linear algebra.

The oracles against which every estimate of the library is tested. The
numbers' type follows the MDP's.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.environments.tabular import TabularMDP, draw
from offnac.transition import Transition

Policy = Float[Array, "S A"]
Scalar = float | Float[Array, ""]
Features = Float[Array, "S A k"]
"""φ(s,a) = ∇θ log π(a|s)."""


def state_chain(mdp: TabularMDP, pi: Policy) -> Float[Array, "S S"]:
    """P_π(s′|s) = Σ_a π(a|s) P(s′|s,a) c: a row lacks the probability of terminating there."""
    return jnp.einsum("sa,sat,sat->st", pi, mdp.P, mdp.continues)


def restart_chain(mdp: TabularMDP, pi: Policy) -> Float[Array, "S S"]:
    """P_π where a termination leads to s₀ ~ d₀: the chain of episodes laid end to end."""
    P_pi = state_chain(mdp, pi)
    return P_pi + (1 - P_pi.sum(axis=1))[:, None] * mdp.d0


def discounted_visitation(mdp: TabularMDP, pi: Policy, gamma: Scalar) -> Float[Array, " S"]:
    """d̃_π = (1−γ)(I − γP_πᵀ)⁻¹d₀; where the task can terminate it sums to less than 1."""
    P_pi = state_chain(mdp, pi)
    return (1 - gamma) * jnp.linalg.solve(jnp.eye(len(P_pi), dtype=P_pi.dtype) - gamma * P_pi.T, mdp.d0)


def stationary(mdp: TabularMDP, pi: Policy) -> Float[Array, " S"]:
    """d_π of the restart chain: [P_πᵀ − I; 1ᵀ] d = [0; 1]."""
    P_pi = restart_chain(mdp, pi)
    n = len(P_pi)
    system = jnp.vstack([P_pi.T - jnp.eye(n, dtype=P_pi.dtype), jnp.ones_like(mdp.d0)])
    return jnp.linalg.lstsq(system, jnp.zeros_like(system[:, 0]).at[n].set(1))[0]


def value(mdp: TabularMDP, pi: Policy, gamma: Scalar) -> Float[Array, " S"]:
    """V_π = (I − γP_π)⁻¹ r_π."""
    P_pi = state_chain(mdp, pi)
    return jnp.linalg.solve(jnp.eye(len(P_pi), dtype=P_pi.dtype) - gamma * P_pi, jnp.sum(pi * mdp.r, axis=1))


def q_value(mdp: TabularMDP, pi: Policy, gamma: Scalar) -> Float[Array, "S A"]:
    """Q_π = r + γ Σ P c V_π."""
    return mdp.r + gamma * jnp.einsum("sat,sat,t->sa", mdp.P, mdp.continues, value(mdp, pi, gamma))


def advantage(mdp: TabularMDP, pi: Policy, gamma: Scalar) -> Float[Array, "S A"]:
    """A_π = Q_π − V_π."""
    return q_value(mdp, pi, gamma) - value(mdp, pi, gamma)[:, None]


def objective(mdp: TabularMDP, pi: Policy, gamma: Scalar) -> Float[Array, ""]:
    """J = (1−γ) d₀ᵀV_π (eq. 1)."""
    return (1 - gamma) * mdp.d0 @ value(mdp, pi, gamma)


def fisher(phi: Features, d: Float[Array, " S"], pi: Policy) -> Float[Array, "k k"]:
    """F = Σ d(s) π(a|s) φφᵀ."""
    return jnp.einsum("s,sa,sai,saj->ij", d, pi, phi, phi)


def gradient(phi: Features, d: Float[Array, " S"], pi: Policy, advantage: Policy) -> Float[Array, " k"]:
    """g = Σ d(s) π(a|s) A(s,a) φ, which is ∇J where d = d̃_π."""
    return jnp.einsum("s,sa,sa,sai->i", d, pi, advantage, phi)


def natural_gradient(
    phi: Features, d: Float[Array, " S"], pi: Policy, advantage: Policy
) -> Float[Array, " k"]:
    """x* = F⁺g; F is singular, for softmax does not see a shift of its logits."""
    return jnp.linalg.pinv(fisher(phi, d, pi), hermitian=True) @ gradient(phi, d, pi, advantage)


def sample(
    key: PRNGKeyArray, mdp: TabularMDP, d: Float[Array, " S"], mu: Policy, n: int, *, step: int = 1
) -> Transition:
    """``n`` independent transitions with s in proportion to ``d`` and a ~ μ(·|s).

    Independent rows have no clock; ``step`` is written on all of them, and 0
    says that they are initial states.
    """
    key_s, key_a, key_next = jax.random.split(key, 3)
    s = draw(key_s, jnp.broadcast_to(d, (n, len(d))))
    a = draw(key_a, mu[s])
    s_next = draw(key_next, mdp.P[s, a])
    return Transition(
        observation=mdp.observe(s),
        action=a,
        reward=mdp.r[s, a],
        next_observation=mdp.observe(s_next),
        terminated=mdp.terminates[s, a, s_next].astype(bool),
        truncated=jnp.zeros(n, bool),
        behaviour_prob=mu[s, a],
        step=jnp.full(n, step, jnp.int32),
    )
