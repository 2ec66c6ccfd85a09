"""Q̂ as a network: minibatch regression on bounded targets with a slow copy, in one compiled program.

With a time limit Q̂ also sees how many steps are left (Pardo et al. 2018, "Time limits in reinforcement
learning"): a row teaches every number of them, so that no backward induction is needed.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.critics.td import reward_bounds
from offnac.networks import Network, Parameters, evaluate, initialise
from offnac.settings import settings, static
from offnac.transition import Transition


class Task(NamedTuple):
    """The numbers of a criterion, and the units of its values."""

    gamma: Float[Array, ""] | float
    steps: Float[Array, ""] | float
    rewards: Float[Array, " 2"]
    """The smallest and the largest."""
    unit: Float[Array, ""] | float
    """The size of a return."""

    def bounds(self, left: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """What rewards like those seen can make within the steps that are left."""
        discounted = (1.0 - self.gamma**left) / jnp.maximum(1.0 - self.gamma, 1e-12)
        span: Any = jnp.where(self.gamma < 1.0, discounted, left)
        return reward_bounds(self.rewards, 1.0 - 1.0 / span)


class Rows(NamedTuple):
    """The log, observations in units of its SD."""

    batch: Transition
    pi_next: Float[Array, "n A"]


@settings
class Regression:
    network: Network = static()
    """(s, clock) ↦ Q(s, ·)."""
    target_rate: float
    """Of the slow copy that gives the targets."""
    rate: float = 1e-2
    """Of Adam, falling to 0."""

    def q(
        self, psi: Parameters, task: Task, observation: Float[Array, "n d"], left: Float[Array, " n"]
    ) -> Float[Array, "n A"]:
        clock = jnp.where(jnp.isinf(left), 1.0, 2.0 * left / task.steps - 1.0)
        return task.unit * evaluate(self.network, psi, jnp.column_stack([observation, clock]))

    def fit(
        self, rows: Rows, drawn: Int[Array, "steps b"], task: Task, psi: Parameters, key: PRNGKeyArray
    ) -> Parameters:
        """ψ after a step from ψ over each batch of drawn rows."""
        steps, batch_size = drawn.shape
        optimiser = optax.adam(optax.cosine_decay_schedule(self.rate, steps))

        def step(carry: Any, inputs: tuple[Int[Array, " b"], PRNGKeyArray]) -> tuple[Any, None]:
            psi, slow, state = carry
            index, key = inputs
            batch, pi_next = jax.tree.map(lambda column: column[index], rows)
            u = jax.random.uniform(key, (batch_size,))
            left = jnp.where(jnp.isinf(task.steps), task.steps, jnp.ceil(task.steps**u))
            target = self.target(slow, task, batch, pi_next, left)

            def loss(psi: Parameters) -> Float[Array, ""]:
                q = self.q(psi, task, batch.observation, left)
                taken = (q * jax.nn.one_hot(batch.action, q.shape[-1])).sum(axis=-1)
                return (((taken - target) / task.unit) ** 2).mean()

            update, state = optimiser.update(jax.grad(loss)(psi), state)
            psi = psi + update
            return (psi, slow + self.target_rate * (psi - slow), state), None

        carry = (psi, psi, optimiser.init(psi))
        return jax.lax.scan(step, carry, (drawn, jax.random.split(key, steps)))[0][1]

    def target(
        self, psi: Parameters, task: Task, batch: Transition, pi_next: Array, left: Float[Array, " n"]
    ) -> Float[Array, " n"]:
        """r + γ c V(s′) with a step less left, within what the rewards allow."""
        v_next = (pi_next * self.q(psi, task, batch.next_observation, left - 1.0)).sum(axis=-1)
        going = batch.continues * (left > 1.0)
        return jnp.clip(batch.reward + task.gamma * going * v_next, *task.bounds(left))


@jax.jit
def fit_members(
    regression: Regression, rows: Rows, drawn: Int[Array, "m steps b"], task: Task, seed: int
) -> Float[Array, "m k"]:
    """Several fits, each from its own beginning to its own draws."""

    def one(inputs: tuple[Int[Array, "steps b"], PRNGKeyArray]) -> Parameters:
        drawn, key = inputs
        begin_key, fit_key = jax.random.split(key)
        return regression.fit(rows, drawn, task, initialise(regression.network, begin_key), fit_key)

    return jax.lax.map(one, (drawn, jax.random.split(jax.random.key(seed), len(drawn))))
