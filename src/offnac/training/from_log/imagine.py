"""What a model says of a policy: rows that it would see, and what it would earn."""

from collections.abc import Callable
from typing import Any

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
    starts: Float[Array, "n d"],
    steps: int,
    key: PRNGKeyArray,
) -> Transition:
    """``steps`` steps of π from each of some states, n · steps rows with ρ = 1. The states are dealt out to
    the model's members; where the task ends it starts again from the same state."""
    first, step = _dealt(model, starts), _step(model, state, policy, theta)

    def body(observation: Array, key: PRNGKeyArray) -> tuple[Array, Transition]:
        action, prob, outcome = step(observation, key)
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
        return jnp.where(outcome.terminated[..., None], first, outcome.next_observation), row

    seen = jax.lax.scan(body, first, jax.random.split(key, steps))[1]
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[3:]), seen)


def value(
    model: Model,
    state: ModelState,
    policy: SoftmaxPolicy,
    theta: Parameters,
    starts: Float[Array, "n d"],
    steps: int,
    gamma: float,
    key: PRNGKeyArray,
) -> Float[Array, " members"]:
    """What π earns from some states on, discounted and in so many steps, as each member has it."""
    first, step = _dealt(model, starts), _step(model, state, policy, theta)

    def body(carry: tuple[Array, Array, Array], key: PRNGKeyArray) -> tuple[tuple[Array, Array, Array], Any]:
        observation, weight, total = carry
        _, _, outcome = step(observation, key)
        total = total + weight * outcome.reward
        return (outcome.next_observation, gamma * weight * ~outcome.terminated, total), None

    nothing = jnp.zeros(first.shape[:2])
    begun = (first, nothing + 1.0, nothing)
    return jax.lax.scan(body, begun, jax.random.split(key, steps))[0][2].mean(axis=1)


def _dealt(model: Model, starts: Float[Array, "n d"]) -> Float[Array, "m n d"]:
    return starts.reshape(model.members, -1, starts.shape[1])


def _step(model: Model, state: ModelState, policy: SoftmaxPolicy, theta: Parameters) -> Step:
    """One step of π in every state: what it does, how probable that was, and what follows."""

    def step(observation: Array, key: PRNGKeyArray) -> tuple[Array, Array, Outcome]:
        action_key, model_key = jax.random.split(key)
        sampled = policy.sample(theta, observation.reshape(-1, observation.shape[-1]), action_key)
        action, prob = (part.reshape(observation.shape[:2]) for part in sampled)
        return action, prob, model.predict(state, observation, action, model_key)

    return step
