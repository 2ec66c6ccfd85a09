"""The softmax policy π_θ(a|s) over a network's logits (the paper's Section II)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.networks import Network, Parameters, evaluate, initialise
from offnac.settings import settings, static
from offnac.transition import Transition


@settings
class SoftmaxPolicy:
    network: Network = static()

    def init(self, key: PRNGKeyArray) -> Parameters:
        return initialise(self.network, key)

    def log_probabilities(self, theta: Parameters, observation: Float[Array, "n d"]) -> Float[Array, "n a"]:
        """log π from logits: exact features even when the policy saturates (errata row 22)."""
        return jax.nn.log_softmax(evaluate(self.network, theta, observation))

    def log_prob(
        self, theta: Parameters, observation: Float[Array, "n d"], action: Int[Array, " n"]
    ) -> Float[Array, " n"]:
        # A product with the one-hot action, not a gather: its transpose is no scatter.
        log_pi = self.log_probabilities(theta, observation)
        return jnp.sum(log_pi * jax.nn.one_hot(action, log_pi.shape[-1], dtype=log_pi.dtype), axis=-1)

    def sample(
        self, theta: Parameters, observation: Float[Array, "n d"], key: PRNGKeyArray
    ) -> tuple[Int[Array, " n"], Float[Array, " n"]]:
        """a ~ π(·|s), and π(a|s)."""
        log_pi = self.log_probabilities(theta, observation)
        action = jax.random.categorical(key, log_pi)
        return action, jnp.exp(self.log_prob(theta, observation, action))

    def probability_ratio(self, theta: Parameters, batch: Transition) -> Float[Array, " n"]:
        """ρ = π(a|s)/μ(a|s); exactly 1 on a stream of π's own actions."""
        return jnp.exp(self.log_prob(theta, batch.observation, batch.action)) / batch.behaviour_prob
