"""Compatible features φ = ∇θ log π(a|s) (eq. 7), without a Fisher matrix.

xᵀφ is a Jacobian-vector product and Σ cᵢφᵢ a vector-Jacobian product: both
work on any network. Only the small exact solvers ask for the rows themselves.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.transition import Transition


def _log_prob(policy: SoftmaxPolicy, batch: Transition) -> Callable[[Parameters], Float[Array, " n"]]:
    return lambda theta: policy.log_prob(theta, batch.observation, batch.action)


def advantage(
    policy: SoftmaxPolicy, theta: Parameters, batch: Transition, x: Parameters
) -> Float[Array, " n"]:
    """xᵀφ(s,a), the advantage critic's estimate of A(s,a)."""
    return jax.jvp(_log_prob(policy, batch), (theta,), (x,))[1]


def combine(policy: SoftmaxPolicy, theta: Parameters, batch: Transition, c: Float[Array, " n"]) -> Parameters:
    """Σ cᵢ φ(sᵢ,aᵢ)."""
    return jax.vjp(_log_prob(policy, batch), theta)[1](c)[0]


def feature(
    policy: SoftmaxPolicy, theta: Parameters, observation: Float[Array, " d"], action: Int[Array, ""]
) -> Parameters:
    """φ(s,a)."""
    return jax.grad(lambda t: policy.log_prob(t, observation[None], action[None])[0])(theta)


def features(policy: SoftmaxPolicy, theta: Parameters, batch: Transition) -> Float[Array, "n k"]:
    """The rows φ(sᵢ,aᵢ)ᵀ."""
    return jax.vmap(partial(feature, policy, theta))(batch.observation, batch.action)


def fisher_product(
    policy: SoftmaxPolicy, theta: Parameters, batch: Transition, omega: Float[Array, " n"], v: Parameters
) -> Parameters:
    """F v = E[ω φ φᵀ] v."""
    return combine(policy, theta, batch, omega * advantage(policy, theta, batch, v) / omega.shape[0])


def curvature(
    policy: SoftmaxPolicy, theta: Parameters, batch: Transition, omega: Float[Array, " n"], x: Parameters
) -> Float[Array, ""]:
    """xᵀF x: twice the KL divergence, to second order, of a step x."""
    return jnp.mean(omega * advantage(policy, theta, batch, x) ** 2)
