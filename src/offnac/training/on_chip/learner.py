"""One update of Algorithm 2 over padded networks: :meth:`offnac.actor_critic.ActorCritic.update` for a
stream, with what two steps share computed once."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.actor_critic import ActorCritic, State
from offnac.directions import Iterative
from offnac.optimisers import Adam, Optimiser
from offnac.training.on_chip.networks import (
    Acting,
    Actor,
    Number,
    Ratio,
    Value,
    Valued,
    Vector,
    advantage,
    features,
    judge,
    judge_both,
    value_gradient,
    weigh,
)
from offnac.training.on_chip.optimisers import Grown, Moments, move


class ValueState(NamedTuple):
    moments: Moments | None
    psi: Value


class DirectionState(NamedTuple):
    moments: Moments | None
    x: Actor


class RatioState(NamedTuple):
    moments: Moments | None
    network: Ratio
    updates: Any
    """Steps of its optimiser so far."""


class Seen(NamedTuple):
    """A step of the stream, as the learner is shown it."""

    s: Vector
    """Padded with zeros."""
    one: Vector
    """What to add to it where there are biases."""
    acting: Acting
    """π at s."""
    taken: Vector
    """One-hot a."""
    rho: Number | float
    reward: Number
    continues: Number
    next_s: Vector


def weights(ratios: Any, s: Vector) -> tuple[Float[Array, ""] | float, Float[Array, ""] | float]:
    """ŵ(s) and w(s); 1 on-policy."""
    if ratios is None:
        return 1.0, 1.0
    w_hat, w = (jnp.sum(weigh(state.network, s[None, :])) for state in ratios)
    return w_hat, w


def update(
    algorithm: ActorCritic, learner: State, seen: Seen, here: Valued, growth: Grown
) -> tuple[State, Valued]:
    """Steps 11 to 16. ``here`` is V at s under the learner's ψ; V at s′ under the new one comes back.
    ``growth`` is of the moments of this step."""
    theta: Any = learner.theta
    psi, clock = learner.value.psi, learner.clock
    s, next_s = seen.s + seen.one, seen.next_s + seen.one
    w_hat, w = weights(learner.ratios, s)
    worth = algorithm.gamma * seen.continues

    critic, actor = optimisers(algorithm)
    delta = seen.reward + worth * judge(psi, next_s).value - here.value
    ascent = value_gradient(psi, s, here, w_hat * seen.rho * delta)
    value = ValueState(*move(critic, learner.value.moments, psi, ascent, growth, clock))

    anew, there = judge_both(value.psi, s, next_s)
    delta = seen.reward + worth * there.value - anew.value
    phi = features(theta, seen.s, seen.acting, seen.taken)
    omega, direction = w * seen.rho, learner.direction
    if isinstance(algorithm.direction, Iterative):
        error = omega * (delta - advantage(direction.x, phi))
        ascent = tuple(part.times(error) for part in phi)
        optimiser = algorithm.direction.optimiser
        direction = DirectionState(*move(optimiser, direction.moments, direction.x, ascent, growth, clock))
        x: Any = direction.x
    else:
        x = tuple(part.times(omega * delta) for part in phi)
    step, theta = move(actor, learner.step, theta, x, growth, clock)
    clock = clock._replace(step=clock.step + 1)
    return State(theta, learner.ratios, value, direction, step, clock), there


def optimisers(algorithm: ActorCritic) -> tuple[Adam, Optimiser]:
    """The value critic's and the actor's."""
    critic: Any = algorithm.critic
    actor: Any = algorithm.step
    return critic.optimiser, actor.optimiser
