"""A run as the kernel holds it, and back: networks as padded matrices, the key as two words."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import optax
from jaxtyping import Array, Int

from offnac.actor_critic import ActorCritic
from offnac.networks import MLP
from offnac.training.on_chip import networks
from offnac.training.on_chip.learner import DirectionState, RatioState, ValueState
from offnac.training.on_chip.numbers import words
from offnac.training.on_chip.optimisers import Moments
from offnac.training.protocol import Run

Packed = Any
"""A :class:`Run` whose networks are padded and whose key is two words."""
Shape = Callable[[Any], Any]
"""From a vector to padded matrices, or back."""


def pack(algorithm: ActorCritic, run: Run) -> Packed:
    learner: Any = run.learner
    policy, critic, estimators = _networks(algorithm)
    actor, value = partial(networks.actor, policy), partial(networks.value, critic)
    direction, ratios = None, None
    if learner.direction:
        direction = DirectionState(_moments(actor, learner.direction.optimiser), actor(learner.direction.x))
    if estimators:
        ratios = tuple(
            _pack_ratio(partial(networks.ratio, network), state)
            for network, state in zip(estimators, learner.ratios, strict=True)
        )
    learner = learner._replace(
        theta=actor(learner.theta),
        ratios=ratios,
        value=ValueState(_moments(value, learner.value.optimiser), value(learner.value.psi)),
        direction=direction,
        step=_moments(actor, learner.step),
    )
    packed: Any = run
    return packed._replace(key=words(run.key), learner=learner, best_theta=actor(run.best_theta))


def unpack(algorithm: ActorCritic, before: Run, run: Packed) -> Run:
    """The run that ``before`` has become."""
    old, new, (policy, critic, estimators) = before.learner, run.learner, _networks(algorithm)
    actor, value = partial(networks.flat, policy), partial(networks.flat, critic)
    count, direction, ratios = new.clock.step, old.direction, old.ratios
    if new.direction is not None:
        direction = direction._replace(
            x=actor(new.direction.x),
            optimiser=_state(actor, direction.optimiser, new.direction.moments, count),
        )
    if estimators:
        ratios = type(ratios)(
            *(
                _unpack_ratio(partial(networks.flat, network), kept, state)
                for network, kept, state in zip(estimators, ratios, new.ratios, strict=True)
            )
        )
    learner = new._replace(
        theta=actor(new.theta),
        ratios=ratios,
        value=old.value._replace(
            psi=value(new.value.psi),
            optimiser=_state(value, old.value.optimiser, new.value.moments, count),
        ),
        direction=direction,
        step=_state(actor, old.step, new.step, count),
    )
    unpacked: Run = run._replace(key=before.key, learner=learner, best_theta=actor(run.best_theta))
    return unpacked


def _networks(algorithm: ActorCritic) -> tuple[MLP, MLP, tuple[MLP, ...]]:
    policy: Any = algorithm.policy.network
    critic: Any = algorithm.critic
    pair: tuple[Any, ...] = (algorithm.ratios.w_hat, algorithm.ratios.w)
    estimators = tuple(one.network(policy.inputs) for one in pair if hasattr(one, "network"))
    return policy, critic.network, estimators


def _moments(shape: Shape, state: Any) -> Moments | None:
    return Moments(shape(state.mu), shape(state.nu)) if state else None


def _state(shape: Shape, before: Any, moments: Moments | None, count: Int[Array, ""]) -> Any:
    if moments is None:
        return before
    return optax.ScaleByAdamState(count, shape(moments.first), shape(moments.second))


def _pack_ratio(shape: Shape, state: Any) -> RatioState:
    return RatioState(_moments(shape, state.optimiser), shape(state.parameters), state.optimiser.count)


def _unpack_ratio(shape: Shape, before: Any, state: RatioState) -> Any:
    return before._replace(
        parameters=shape(state.network),
        optimiser=_state(shape, before.optimiser, state.moments, state.updates),
        updates=state.updates.astype(jnp.float32),
    )
