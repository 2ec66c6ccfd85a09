"""What a model says of a policy: the rows that it would see."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.training.from_log.model import Model, ModelState, Outcome
from offnac.transition import Transition

Step = Callable[[Array, PRNGKeyArray], tuple[Int[Array, "m n"], Float[Array, "m n"], Outcome]]


def rows(
    model: Model,
    state: ModelState,
    policy: SoftmaxPolicy,
    theta: Parameters,
    walks: Float[Array, "m n d"],
    again: Float[Array, "steps m n d"],
    chance: float,
    key: PRNGKeyArray,
) -> tuple[Float[Array, "m n d"], Transition]:
    """Some steps of π from where each member's walks have come to: where they come to now, and a row with
    ρ = 1 for each step. After an end, and by ``chance`` after any step, a walk begins ``again``; and where it
    leaves what the log holds. There only the critic has a word, and it is a cautious one."""
    step = _step(model, state, policy, theta)

    def body(observation: Array, given: tuple[Array, PRNGKeyArray]) -> tuple[Array, Transition]:
        again, key = given
        step_key, chance_key = jax.random.split(key)
        action, prob, outcome = step(observation, step_key)
        row = Transition(
            observation,
            action,
            outcome.reward,
            outcome.next_observation,
            outcome.terminated,
            jnp.zeros_like(outcome.terminated),
            prob,
            jnp.zeros_like(action),
        )
        over = outcome.terminated | outcome.left | (jax.random.uniform(chance_key, prob.shape) < chance)
        return jnp.where(over[..., None], again, outcome.next_observation), row

    walks, seen = jax.lax.scan(body, walks, (again, jax.random.split(key, len(again))))
    return walks, jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[3:]), seen)


def _step(model: Model, state: ModelState, policy: SoftmaxPolicy, theta: Parameters) -> Step:
    """One step of π in every state: what it does, how probable that was, and what follows."""

    def step(observation: Array, key: PRNGKeyArray) -> tuple[Array, Array, Outcome]:
        action_key, model_key = jax.random.split(key)
        sampled = policy.sample(theta, observation.reshape(-1, observation.shape[-1]), action_key)
        action, prob = (part.reshape(observation.shape[:2]) for part in sampled)
        return action, prob, model.predict(state, observation, action, model_key)

    return step
