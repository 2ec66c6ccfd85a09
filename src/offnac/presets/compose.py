"""From a line of settings to a composition of roles."""

from dataclasses import dataclass

from offnac import ratios
from offnac.actor_critic import ActorCritic
from offnac.critics import TD, TDLambda
from offnac.directions import Iterative, Vanilla
from offnac.networks import MLP
from offnac.optimisers import SGD, Adam, Optimiser
from offnac.policy import SoftmaxPolicy
from offnac.presets.tables import Bands, Row
from offnac.ratios import Fixed, Kernel, One, Ratios
from offnac.schedules import Constant, Drops, RobbinsMonro, Schedule, require_two_timescales
from offnac.steps import Free
from offnac.training.protocol import Experiment, Protocol
from offnac.transition import Spec


@dataclass(frozen=True)
class Powers:
    """How fast the theory's rates decay: α_n = a(1+n/h)^−critics, β_n = b(1+n/h)^−actor."""

    critics: float = 0.6
    actor: float = 0.9


TWO_TIMESCALES = Powers()


def is_off_policy(algorithm: str) -> bool:
    return algorithm.startswith("off")


def is_natural(algorithm: str) -> bool:
    return algorithm.endswith("nac")


def _assemble(
    algorithm: str,
    row: Row,
    spec: Spec,
    *,
    lam: float,
    gamma: float,
    actor: Optimiser,
    x: Iterative,
    value: Optimiser,
    ratios: Ratios,
    trace: str,
) -> ActorCritic:
    """The roles of an algorithm: Off has ratios, NAC a natural direction. Actor tanh without biases,
    value ReLU with biases (errata row 10)."""
    network = MLP(spec.observation_size, row.actor, spec.actions, activation="tanh", bias=False)
    td = TD(MLP(spec.observation_size, row.value, 1, activation="relu", bias=True), value)
    return ActorCritic(
        policy=SoftmaxPolicy(network),
        ratios=ratios if is_off_policy(algorithm) else Ratios(One(), One()),
        critic=TDLambda(td, lam, trace=trace) if lam > 0 else td,
        direction=x if is_natural(algorithm) else Vanilla(),
        step=Free(actor),
        gamma=gamma,
    )


def _schedule(rate: float, drops: Bands) -> Schedule:
    return Drops(rate, drops) if drops else Constant(rate)


def published(algorithm: str, row: Row, spec: Spec, lam: float, gamma: float, episodes: int) -> Experiment:
    """What the published experiments ran, its oddities included: time limits end the task, rates
    drop, x₀ is random, ratios enter the updates raw (errata rows 8 to 14, 23)."""
    optimiser = Adam if row.adam_actor else SGD
    ratio_optimiser = Adam(Constant(row.ratio_rate))
    built = _assemble(
        algorithm,
        row,
        spec,
        lam=lam,
        gamma=gamma,
        actor=optimiser(_schedule(row.actor_rate, row.actor_drops)),
        x=Iterative(optimiser(_schedule(row.x_rate, row.x_drops)), random_start=True),
        value=Adam(_schedule(row.value_rate, row.value_drops)),
        ratios=Ratios(
            ratios.published("stationary", ratio_optimiser), ratios.published("discounted", ratio_optimiser)
        ),
        trace="printed",
    )
    protocol = Protocol(
        off_policy=is_off_policy(algorithm),
        ratio_steps=row.ratio_steps,
        newest=0.1,
        time_limit_terminal=True,
    )
    return Experiment(built, protocol, episodes)


def paper(algorithm: str, row: Row, spec: Spec, lam: float, gamma: float, episodes: int) -> Experiment:
    """The paper's tables with the errata's corrections: time limits bootstrapped, x₀ = 0, ratios
    normalised on the restart chain, the corrected trace. No rate drops; the printed running average."""
    optimiser = Adam if row.adam_actor else SGD

    def ratio(form: str) -> Kernel:
        return Kernel(form, optimiser=Adam(Constant(row.ratio_rate)), lengthscale=Fixed(1.0))

    built = _assemble(
        algorithm,
        row,
        spec,
        lam=lam,
        gamma=gamma,
        actor=optimiser(Constant(row.actor_rate)),
        x=Iterative(optimiser(Constant(row.x_rate))),
        value=Adam(Constant(row.value_rate)),
        ratios=Ratios(ratio("stationary"), ratio("discounted")),
        trace="corrected",
    )
    protocol = Protocol(off_policy=is_off_policy(algorithm), ratio_steps=row.ratio_steps, newest=0.9)
    return Experiment(built, protocol, episodes)


def theory(
    algorithm: str,
    row: Row,
    spec: Spec,
    lam: float,
    gamma: float,
    episodes: int,
    powers: Powers = TWO_TIMESCALES,
    horizon: float = 1e4,
) -> Experiment:
    """The steps that the convergence proof assumes: plain, on two timescales. Its sampling it does not
    have: states come along trajectories without γ^t, and the ratios are taken against the first steps
    of rollouts (errata rows 5 and 11)."""

    def critics(rate: float) -> SGD:
        return SGD(RobbinsMonro(rate, powers.critics, horizon))

    actor_rate = RobbinsMonro(row.actor_rate, powers.actor, horizon)
    for rate in (row.value_rate, row.x_rate):
        require_two_timescales(critics(rate).rate, actor_rate)

    def ratio(form: str) -> Kernel:
        return Kernel(form, optimiser=critics(row.ratio_rate))

    built = _assemble(
        algorithm,
        row,
        spec,
        lam=lam,
        gamma=gamma,
        actor=SGD(actor_rate),
        x=Iterative(critics(row.x_rate)),
        value=critics(row.value_rate),
        ratios=Ratios(ratio("stationary"), ratio("direct")),
        trace="corrected",
    )
    protocol = Protocol(off_policy=is_off_policy(algorithm), ratio_steps=row.ratio_steps, newest=0.1)
    return Experiment(built, protocol, episodes)
