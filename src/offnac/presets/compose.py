"""From a line of settings to a composition of roles."""

from dataclasses import dataclass

from offnac import ratios
from offnac.actor_critic import ActorCritic, Critic, Direction
from offnac.critics import TD, TDLambda
from offnac.directions import Iterative, Vanilla
from offnac.networks import MLP
from offnac.optimisers import SGD, Adam, Optimiser
from offnac.policy import SoftmaxPolicy
from offnac.presets.tables import Row
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


def _networks(row: Row, spec: Spec) -> tuple[SoftmaxPolicy, MLP]:
    """Actor tanh without biases, value ReLU with biases (errata row 10)."""
    actor = MLP(spec.observation_size, row.actor, spec.actions, activation="tanh", bias=False)
    value = MLP(spec.observation_size, row.value, 1, activation="relu", bias=True)
    return SoftmaxPolicy(actor), value


def _schedule(rate: float, drops: tuple[tuple[float, float, float], ...]) -> Schedule:
    return Drops(rate, drops) if drops else Constant(rate)


def _critic(td: TD, lam: float, trace: str) -> Critic:
    return TDLambda(td, lam, trace=trace) if lam > 0 else td


def published(algorithm: str, row: Row, spec: Spec, lam: float, gamma: float, episodes: int) -> Experiment:
    """What the published experiments ran, its oddities included: time limits end the task, rates
    drop, x₀ is random, ratios enter the updates raw (errata rows 8 to 14, 23)."""
    policy, value = _networks(row, spec)
    off_policy = is_off_policy(algorithm)

    def actor_optimiser(schedule: Schedule) -> Optimiser:
        return Adam(schedule) if row.adam_actor else SGD(schedule)

    def ratio(form: str) -> Kernel:
        return ratios.published(form, Adam(Constant(row.ratio_rate)))

    direction: Direction = Vanilla()
    if is_natural(algorithm):
        direction = Iterative(actor_optimiser(_schedule(row.x_rate, row.x_drops)), random_start=True)
    td = TD(value, Adam(_schedule(row.value_rate, row.value_drops)))
    return Experiment(
        ActorCritic(
            policy=policy,
            ratios=Ratios(ratio("stationary"), ratio("discounted")) if off_policy else Ratios(One(), One()),
            critic=_critic(td, lam, "printed"),
            direction=direction,
            step=Free(actor_optimiser(_schedule(row.actor_rate, row.actor_drops))),
            gamma=gamma,
        ),
        Protocol(off_policy=off_policy, ratio_steps=row.ratio_steps, newest=0.1, time_limit_terminal=True),
        episodes,
    )


def paper(algorithm: str, row: Row, spec: Spec, lam: float, gamma: float, episodes: int) -> Experiment:
    """The paper's tables with the errata's corrections: time limits bootstrapped, x₀ = 0, ratios
    normalised on the restart chain, the corrected trace. No rate drops; the printed running average."""
    policy, value = _networks(row, spec)
    off_policy = is_off_policy(algorithm)

    def actor_optimiser(rate: float) -> Optimiser:
        return Adam(Constant(rate)) if row.adam_actor else SGD(Constant(rate))

    def ratio(form: str) -> Kernel:
        return Kernel(form, optimiser=Adam(Constant(row.ratio_rate)), lengthscale=Fixed(1.0))

    direction: Direction = Iterative(actor_optimiser(row.x_rate)) if is_natural(algorithm) else Vanilla()
    return Experiment(
        ActorCritic(
            policy=policy,
            ratios=Ratios(ratio("stationary"), ratio("discounted")) if off_policy else Ratios(One(), One()),
            critic=_critic(TD(value, Adam(Constant(row.value_rate))), lam, "corrected"),
            direction=direction,
            step=Free(actor_optimiser(row.actor_rate)),
            gamma=gamma,
        ),
        Protocol(off_policy=off_policy, ratio_steps=row.ratio_steps, newest=0.9),
        episodes,
    )


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
    """What the convergence proof assumes: plain steps on two timescales, and a ratio taken against
    the data at hand (errata row 5), so that no γ^t is missing."""
    policy, value = _networks(row, spec)
    off_policy = is_off_policy(algorithm)

    def critics_rate(rate: float) -> Schedule:
        return RobbinsMonro(rate, powers.critics, horizon)

    actor_rate = RobbinsMonro(row.actor_rate, powers.actor, horizon)
    for rate in (row.value_rate, row.x_rate):
        require_two_timescales(critics_rate(rate), actor_rate)

    def ratio(form: str) -> Kernel:
        return Kernel(form, optimiser=SGD(critics_rate(row.ratio_rate)))

    direction: Direction = Iterative(SGD(critics_rate(row.x_rate))) if is_natural(algorithm) else Vanilla()
    return Experiment(
        ActorCritic(
            policy=policy,
            ratios=Ratios(ratio("stationary"), ratio("direct")) if off_policy else Ratios(One(), One()),
            critic=_critic(TD(value, SGD(critics_rate(row.value_rate))), lam, "corrected"),
            direction=direction,
            step=Free(SGD(actor_rate)),
            gamma=gamma,
        ),
        Protocol(off_policy=off_policy, ratio_steps=row.ratio_steps, newest=0.1),
        episodes,
    )
