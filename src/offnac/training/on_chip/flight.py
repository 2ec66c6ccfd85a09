"""A seed's run with its episode under way, and one step of it.

The loop over steps is flat (:func:`step` ends an episode and begins the next one where it is time), because
what compiles kernels takes no loop that ends early.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from offnac.actor_critic import ActorCritic
from offnac.environments.gymnax import GymnaxEnvironment
from offnac.training.on_chip import moment as moments
from offnac.training.on_chip import ratios
from offnac.training.on_chip.learner import Seen, optimisers, update
from offnac.training.on_chip.moment import Moment, Outcome, Purpose, choose, choose_evenly, one_hot, played
from offnac.training.on_chip.networks import Actor, Number, Valued, act, judge
from offnac.training.on_chip.optimisers import Grown, grown, grown_further
from offnac.training.on_chip.packing import Packed
from offnac.training.protocol import Protocol, Record, finish_episode
from offnac.transition import Played

Settings = tuple[GymnaxEnvironment, ActorCritic, Protocol]


class Shelf(NamedTuple):
    """What is looked at between two episodes only, and so need not be on the chip."""

    best_theta: Callable[[], Actor]
    keep: Callable[[Packed, Record], None]
    """Put away the record of a run's last episode, and its best θ."""


class Flight(NamedTuple):
    run: Packed
    moment: Moment
    here: Valued
    """V at the moment's s."""
    off_policy: "OffPolicy | Any"
    growth: Grown
    """Of the moments after the last step."""


class OffPolicy(NamedTuple):
    """What an episode has besides its training off-policy."""

    effective_sample_size: Number
    trained: Played
    """The training episode, once π is being evaluated."""
    evaluating: Int[Array, ""]


def take_off(settings: Settings, run: Packed) -> Flight:
    """Begin a training episode."""
    environment, algorithm, protocol = settings
    moment = moments.begin(environment, run.key, run.episode, Purpose.TRAIN)
    here = judge(run.learner.value.psi, moment.s + moments.one(environment))
    off_policy = None
    if protocol.off_policy:
        off_policy = OffPolicy(moment.total + 1.0, played(moment), 0 * run.episode)
    critic, _ = optimisers(algorithm)
    return Flight(run, moment, here, off_policy, grown(critic, run.learner.clock.step))


def again(settings: Settings, flight: Flight) -> Flight:
    """Begin the episode anew if it has not got further. What took it off may round otherwise than the kernel
    does, and a run must not depend on where it was interrupted."""
    begins = flight.moment.step == 0
    if flight.off_policy is not None:
        begins = begins & (flight.off_policy.evaluating == 0)
    return jax.lax.cond(begins, lambda flight: take_off(settings, flight.run), lambda flight: flight, flight)


def step(settings: Settings, flight: Flight, shelf: Shelf) -> Flight:
    """One step of the environment, learned from unless π is being evaluated."""
    if flight.off_policy is not None:
        return jax.lax.cond(
            flight.off_policy.evaluating > 0,
            lambda flight: evaluate(settings, flight, shelf),
            lambda flight: train_off_policy(settings, flight),
            flight,
        )
    flight, outcome = train(settings, flight)
    return jax.lax.cond(
        outcome.done, lambda flight: land(settings, flight, shelf), lambda flight: flight, flight
    )


def train(settings: Settings, flight: Flight) -> tuple[Flight, Outcome]:
    """A step of the while loop of Algorithms 1 and 2."""
    environment, algorithm, protocol = settings
    moment, actions = flight.moment, environment.spec.actions
    acting = act(flight.run.learner.theta, moment.s, actions)
    action = choose_evenly(moment, actions) if protocol.off_policy else choose(moment, acting, actions)
    taken = one_hot(acting, action)
    prob = jnp.sum(taken * acting.pi)
    outcome = moments.advance(environment, moment, action, 1.0 / actions if protocol.off_policy else prob)
    ended = outcome.done if protocol.time_limit_terminal else outcome.terminated
    seen = Seen(
        s=moment.s,
        one=moments.one(environment),
        acting=acting,
        taken=taken,
        rho=prob * actions if protocol.off_policy else 1.0,
        reward=outcome.reward,
        continues=1.0 - ended.astype(jnp.float32),
        next_s=outcome.moment.s,
    )
    critic, _ = optimisers(algorithm)
    growth = grown_further(critic, flight.growth)
    learner, there = update(algorithm, flight.run.learner, seen, flight.here, growth)
    run = flight.run._replace(learner=learner)
    return flight._replace(run=run, moment=outcome.moment, here=there, growth=growth), outcome


def train_off_policy(settings: Settings, flight: Flight) -> Flight:
    """The same with what comes before the first step, the ratios, and what comes after the last: π's turn."""
    environment, algorithm, protocol = settings
    begins = flight.moment.step == 0

    def estimate(flight: Flight) -> Flight:
        first = moments.begin(environment, flight.run.key, flight.run.episode, Purpose.RATIOS)
        learner, effective = ratios.estimate(
            environment, algorithm, flight.run.learner, first, protocol.ratio_steps
        )
        off_policy = flight.off_policy._replace(effective_sample_size=effective)
        return flight._replace(run=flight.run._replace(learner=learner), off_policy=off_policy)

    def turn(flight: Flight) -> Flight:
        first = moments.begin(environment, flight.run.key, flight.run.episode, Purpose.EVALUATE)
        off_policy = flight.off_policy._replace(
            trained=played(flight.moment), evaluating=flight.off_policy.evaluating + 1
        )
        return flight._replace(moment=first, off_policy=off_policy)

    flight = jax.lax.cond(begins, estimate, lambda flight: flight, flight)
    flight, outcome = train(settings, flight)
    return jax.lax.cond(outcome.done, turn, lambda flight: flight, flight)


def evaluate(settings: Settings, flight: Flight, shelf: Shelf) -> Flight:
    """A step of π, not learned from."""
    environment, _, _ = settings
    moment, actions = flight.moment, environment.spec.actions
    acting = act(flight.run.learner.theta, moment.s, actions)
    action = choose(moment, acting, actions)
    prob = jnp.sum(one_hot(acting, action) * acting.pi)
    outcome = moments.advance(environment, moment, action, prob)
    flight = flight._replace(moment=outcome.moment)
    return jax.lax.cond(
        outcome.done, lambda flight: land(settings, flight, shelf), lambda flight: flight, flight
    )


def land(settings: Settings, flight: Flight, shelf: Shelf) -> Flight:
    """Book the episode and begin the next one."""
    evaluation = played(flight.moment)
    trained, effective = evaluation, 0.0 * evaluation.total + 1.0
    if flight.off_policy is not None:
        trained, effective = flight.off_policy.trained, flight.off_policy.effective_sample_size
    before = flight.run._replace(best_theta=shelf.best_theta())
    after, record = finish_episode(settings[2], before, before.learner, trained, evaluation, effective)
    run: Packed = after
    shelf.keep(run, record)
    return take_off(settings, run._replace(best_theta=None))
