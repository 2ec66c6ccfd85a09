"""The ``robust`` preset: the same roles, put together so that every seed learns.

What differs from the paper's stream, and why: recent transitions are learned from
again (ρ corrects them), so that an update averages over thousands of rows; the value
critic takes many steps for each of the actor's, towards bounded targets of a slow copy;
x is solved for by ridge regression instead of chased; and no step changes π by more
than a KL divergence. Time limits are bootstrapped, observations scaled to the task.
Where rewards are progress and ends are nearly always crashes (Lunar Lander under the
uniform μ), what was recorded is studied first, and π learns on walks in a model of it.
"""

from dataclasses import dataclass, replace
from typing import Literal

from offnac.actor_critic import ActorCritic, Critic, Direction
from offnac.critics import TD, Cautious, Minibatches, TDLambda
from offnac.directions import Ridge, Vanilla
from offnac.errors import UserError
from offnac.networks import MLP
from offnac.optimisers import Adam
from offnac.policy import SoftmaxPolicy
from offnac.presets.compose import is_off_policy
from offnac.presets.from_log import widths
from offnac.ratios import Fourier, LeastSquares, One, Ratios
from offnac.schedules import Constant, RobbinsMonro, Schedule
from offnac.steps import ActorStep, Averaged, TrustRegion
from offnac.training.from_log.imagination import Imagination
from offnac.training.from_log.model import Model
from offnac.training.protocol import Experiment, Protocol
from offnac.training.replay import Replay
from offnac.transition import Spec

GAMMA = 0.99
SEGMENT = 16
"""Consecutive rows that a trace runs through."""
TRACED = 8 * SEGMENT
"""Rows of a minibatch with traces: fewer segments than 8 are too few to average over."""


@dataclass(frozen=True)
class RobustRow:
    """What the preset chooses for a task."""

    actor: tuple[int, ...] = (16,)
    bias: bool = False
    value: tuple[int, ...] = (64, 64)
    activation: Literal["tanh", "relu"] = "relu"
    """Of the value network."""
    caution: float = 0.0
    """How much V is held down far from what has been seen."""
    actor_rate: float = 0.03
    """β at most, along x; the trust region may allow less."""
    vanilla: float = 10.0
    """How much more along the vanilla direction, which is shorter than x by about the eigenvalues of F."""
    kl: float = 1e-4
    average: float | None = None
    """Off-policy: how much of the mean of θ's path an update keeps, where that mean is what is learned."""
    kl_horizon: float | None = None
    """Updates after which the trust region is half as large; None: it stays."""
    value_rate: float = 3e-3
    target_rate: float = 0.05
    memory: float = 0.5
    """Weight of past solutions in x."""
    damping: float = 0.1
    """x's ridge, in units of F's mean eigenvalue: the larger, the closer to the vanilla direction."""
    capacity: int = 1 << 15
    batch: int = 5120
    minibatches: int = 40
    updates: int = 1
    warm_up: int = 5
    """Episodes that are only recorded: what is learned from little data can lead astray."""
    entropy: float | None = None
    evidence: int = 1
    telling: float = 0.0
    """The share of the rows from the steps before an end or an unusual reward."""
    ratio_rows: int = 1024
    """Rows that w is solved for on; 0 for w = 1."""
    critic_ratio: bool = False
    """Whether the value critic is weighed too, by ŵ of the stationary distribution."""
    ratio_ridge: float = 0.1
    ratio_bound: float = 10.0
    mean: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    episodes: int | None = None
    """Training episodes, where fewer than the paper's are enough."""
    gamma: float | None = None
    """γ where nobody asks for another one; None: 0.99."""
    unit: float | None = None
    """Of V, about a hundredth of what returns may be; None: 1."""
    favour: tuple[float, ...] | None = None
    """What the actor adds to δ for each action: where the noise is larger than what actions cost, the
    one that costs least is taken."""
    imagined: float = 0.0
    """Off-policy, on a task of Gymnasium's: the part of the rows that is imagined, steps of π in a model that
    is fitted to what was recorded during ``warm_up``; 0 for no model."""
    depth: float = 400.0
    """Steps in the mean before a walk of π in the model begins again."""
    anew: float = 0.3
    """The part of the walks that begin where episodes begin."""
    model: int = 0
    """The width of its networks; 0: by the task's size."""
    model_members: int = 2
    model_batch: int = 1024
    model_share: float = 0.1
    """The part of the rows of its fit that is drawn from all kinds of rows alike."""
    model_decay: float = 0.01
    model_passes: float = 16.0
    model_calm: float | None = None
    """How much it counts for the model that made-up states go on; None: not at all."""
    model_ends_by_flags: bool = True
    """Whether it foresees ends by flags too, or by the other numbers alone."""


_CARTPOLE = RobustRow(mean=(0.0, 0.0, 0.0, 0.0), scale=(2.4, 2.0, 0.2, 2.0))
_ACROBOT = RobustRow(
    actor_rate=0.3,
    vanilla=100.0,
    kl=3e-4,
    capacity=1 << 18,
    batch=2560,
    telling=0.25,
    mean=(0.0,) * 6,
    scale=(0.3, 0.5, 0.5, 0.6, 1.0, 2.0),
)
_MOUNTAIN_CAR = RobustRow(
    actor=(32,),
    bias=True,
    actor_rate=0.1,
    vanilla=300.0,
    kl=3e-4,
    batch=2560,
    telling=0.25,
    mean=(-0.5, 0.0),
    scale=(0.5, 0.05),
)
_LUNAR_LANDER = RobustRow(
    actor=(32,),
    actor_rate=0.1,
    vanilla=30.0,
    kl=1e-3,
    batch=2560,
    mean=(0.0,) * 8,
    scale=(0.5, 0.7, 0.5, 0.5, 0.4, 0.5, 1.0, 1.0),
)

ON_POLICY = {
    "CartPole-v1": replace(_CARTPOLE, actor_rate=0.3, kl=3e-4, capacity=1 << 13, batch=2560, minibatches=20),
    "Acrobot-v1": replace(_ACROBOT, updates=2, evidence=3),
    "MountainCar-v0": replace(_MOUNTAIN_CAR, capacity=1 << 21, updates=6, evidence=12, episodes=400),
    "LunarLander-v3": _LUNAR_LANDER,
}
OFF_POLICY = {
    "CartPole-v1": replace(_CARTPOLE, actor_rate=0.01, vanilla=300.0, value_rate=5e-3),
    "Acrobot-v1": replace(_ACROBOT, actor=(32,), damping=1.0, value_rate=1e-3, updates=4, ratio_ridge=1e-3),
    "MountainCar-v0": replace(_MOUNTAIN_CAR, capacity=1 << 21, updates=10, episodes=200),
    "LunarLander-v3": RobustRow(
        actor=(32,),
        bias=True,
        value=(128, 128),
        caution=0.025,
        actor_rate=300.0,
        kl=5e-4,
        kl_horizon=280.0,
        average=0.98,
        value_rate=1e-3,
        memory=0.9,
        damping=100.0,
        capacity=1 << 17,
        updates=4,
        warm_up=850,
        mean=(0.0, 1.0, 0.0, -0.7, 0.0, 0.0, 0.0, 0.0),
        scale=(0.3, 0.45, 0.65, 0.5, 0.5, 0.4, 0.12, 0.12),
        gamma=0.998,
        unit=16.0,
        favour=(0.15, 0.0, 0.0, 0.0),
        imagined=0.9,
        model_ends_by_flags=False,
    ),
}
WITH_TRACES = {"LunarLander-v3": replace(_LUNAR_LANDER, kl=3e-4, capacity=1 << 17, updates=2, episodes=600)}
"""Off-policy with TD(λ), where a model is of no use: traces run along what was recorded."""
NAC = {"LunarLander-v3": replace(ON_POLICY["LunarLander-v3"], actor_rate=30.0, damping=300.0)}
OFFNAC = {
    "CartPole-v1": replace(OFF_POLICY["CartPole-v1"], value=(128, 128), damping=1.0),
    "Acrobot-v1": replace(
        OFF_POLICY["Acrobot-v1"],
        bias=True,
        value=(128, 128),
        caution=0.01,
        actor_rate=1.0,
        kl=3e-3,
        kl_horizon=2000.0,
        average=0.98,
        value_rate=3e-3,
        memory=0.9,
        damping=30.0,
        batch=5120,
        updates=5,
        warm_up=370,
        ratio_ridge=0.1,
    ),
    "LunarLander-v3": replace(OFF_POLICY["LunarLander-v3"], model_calm=0.1),
}
"""Where x wants something else than the vanilla direction."""


def row(task: str, algorithm: str, lam: float = 0.0) -> RobustRow:
    """The choice for a task; one that the paper does not have gets CartPole's, with its observations
    as they are."""
    rows = {
        "ac": ON_POLICY,
        "nac": ON_POLICY | NAC,
        "offac": OFF_POLICY,
        "offnac": OFF_POLICY | OFFNAC,
    }
    if lam > 0 and is_off_policy(algorithm) and task in WITH_TRACES:
        return WITH_TRACES[task]
    return rows[algorithm].get(task, RobustRow())


def _imagination(off_policy: bool, row: RobustRow, spec: Spec, lam: float) -> Imagination | None:
    if not row.imagined:
        return None
    if not off_policy or lam > 0:
        raise UserError(
            f"the setting imagined is {row.imagined:g}, but a model is for off-policy algorithms without "
            "traces; leave it out, or choose offac or offnac and no --lam"
        )
    model = Model(
        spec.actions,
        row.model_members,
        widths(spec, row.model),
        row.model_batch,
        share=row.model_share,
        decay=row.model_decay,
        passes=row.model_passes,
        calm=row.model_calm,
        ends_by_flags=row.model_ends_by_flags,
    )
    return Imagination(model, row.imagined, row.depth, row.anew)


def robust(
    off_policy: bool,
    natural: bool,
    row: RobustRow,
    spec: Spec,
    lam: float,
    gamma: float | None,
    episodes: int,
) -> Experiment:
    gamma = gamma or row.gamma or GAMMA
    policy = SoftmaxPolicy(
        MLP(
            spec.observation_size,
            row.actor,
            spec.actions,
            activation="tanh",
            bias=row.bias,
            initialisation="zero",
        )
    )
    value = MLP(spec.observation_size, row.value, 1, activation=row.activation)
    td = TD(value, Adam(Constant(row.value_rate)), target_rate=row.target_rate, bounded=True, unit=row.unit)
    critic: Critic = td
    if lam > 0:
        critic = TDLambda(td, lam, clip=True)
    elif row.caution:
        critic = Cautious(td, row.caution, reach=2.0)
    kl: Schedule = Constant(row.kl)
    if row.kl_horizon is not None:
        kl = RobbinsMonro(row.kl, 1.0, row.kl_horizon)
    step: ActorStep = TrustRegion(Constant(row.actor_rate if natural else row.vanilla * row.actor_rate), kl)
    if row.average is not None:
        if not off_policy or row.average >= 1.0:
            raise UserError(
                "the setting average should be below 1, and for an off-policy algorithm, but it is "
                f"{row.average:g}{'' if off_policy else ' for one on-policy'}; leave it out, or choose less"
            )
        step = Averaged(step, row.average)
    direction: Direction = Ridge(row.damping, row.memory) if natural else Vanilla()
    ratios = Ratios(One(), One())
    if off_policy and row.ratio_rows:

        def ratio(form: str) -> LeastSquares:
            return LeastSquares(form, Fourier(64), ridge=row.ratio_ridge, bound=row.ratio_bound)

        ratios = Ratios(ratio("stationary") if row.critic_ratio else One(), ratio("direct"))
    return Experiment(
        ActorCritic(
            policy=policy,
            ratios=ratios,
            critic=Minibatches(critic, row.minibatches if lam == 0 else max(1, row.batch // TRACED)),
            direction=direction,
            step=step,
            gamma=gamma,
            entropy=row.entropy,
            favour=row.favour,
        ),
        Protocol(
            off_policy=off_policy,
            ratio_steps=row.ratio_rows if off_policy else 0,
            newest=0.1,
            replay=Replay(
                capacity=row.capacity,
                batch=row.batch,
                segment=SEGMENT if lam > 0 else 1,
                updates=row.updates,
                warm_up=row.warm_up,
                evidence=row.evidence,
                telling=row.telling,
            ),
            mean=row.mean,
            scale=row.scale,
            imagination=_imagination(off_policy, row, spec, lam),
        ),
        episodes,
    )
