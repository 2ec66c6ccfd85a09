"""The settings of ``learn``: one line for every log."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offnac.actor_critic import ActorCritic, Direction
from offnac.critics import TD, Cautious, Minibatches
from offnac.directions import Imitation, Ridge, Vanilla
from offnac.networks import MLP
from offnac.optimisers import Adam
from offnac.policy import SoftmaxPolicy
from offnac.ratios import Fourier, LeastSquares, One, Ratios
from offnac.schedules import Constant, RobbinsMonro
from offnac.steps import ActorStep, Free, TrustRegion
from offnac.training.from_log.imagination import Imagination
from offnac.training.from_log.model import Model
from offnac.training.from_log.program import Drawing, LogExperiment
from offnac.transition import Spec

ALGORITHMS = ("offnac", "offac", "bc")


@dataclass(frozen=True)
class LogRow:
    gamma: float = 0.99
    """A horizon of 100 decisions."""
    iterations: int | None = None
    """None: by the task's size."""
    actor: tuple[int, ...] = (32,)
    value: tuple[int, ...] = (128, 128)
    bias: bool = True
    actor_rate: float = 1.0
    """β at most, along x, for rewards of size 1; the trust region may allow less."""
    kl: float = 2e-3
    """The trust region's ε at the start."""
    kl_horizon: float = 0.3
    """The share of all iterations after which it is half of that: the actor slows down against its critic."""
    value_rate: float = 3e-3
    target_rate: float = 0.05
    caution: float = 0.1
    reach: float = 2.0
    memory: float = 0.5
    """Weight of past solutions in x."""
    damping: float = 1.0
    """x's ridge, in units of F's mean eigenvalue: the larger, the closer to the vanilla direction."""
    margin: float = 0.0
    """By how much another action must seem better than the one that costs least, in units of the range of
    what actions cost."""
    batch: int = 10240
    minibatches: int = 40
    share: float = 0.25
    ratio_rows: int = 1024
    ratio_ridge: float = 0.1
    ratio_bound: float = 10.0
    held_out_rows: int = 1 << 14
    imitation_rate: float = 3e-3
    imagined: float = 0.9
    """The part of the rows that is imagined: steps of π in the model."""
    depth: float = 24.0
    """Steps in the mean before a walk of π in the model begins again."""
    anew: float = 0.0
    """The part of the walks that begin where episodes begin."""
    model: int = 0
    """The width of its networks; 0: by the task's size."""
    model_members: int = 2
    model_batch: int = 256
    """Rows of a step of its fit."""
    model_share: float = 0.5
    """The part of them that is drawn from all kinds of rows alike."""
    model_decay: float = 0.01
    """Of the model's networks, towards a task that moves along straight lines."""
    model_passes: float = 16.0
    model_steps: int = 50
    """Of the model's fit for each iteration at most: who asks for few iterations wants a quick look."""


DEFAULT = LogRow()
FEW, MANY = 22_000, 220_000
"""Rows, see ``row_for``."""


def row_for(rows: int, shaped: bool = False) -> LogRow:
    """The default for a log of so many rows. The more there are, the less the critic guesses, and the less it
    needs to be held down. Where rewards are ``shaped``, progress that cancels along the way, what is left to
    learn is where it all leads: further ahead, in smaller steps, along a smoother direction. But not for
    long: who follows a model for long learns its errors in the end."""
    more = min(max(rows, FEW), MANY) / FEW
    row = replace(DEFAULT, caution=DEFAULT.caution / more)
    if not shaped:
        return row
    return replace(
        row,
        gamma=0.998,
        iterations=700,
        actor_rate=1000.0,
        kl=5e-4,
        kl_horizon=0.4,
        value_rate=1e-3,
        memory=0.9,
        damping=300.0,
        margin=0.5,
        batch=5120,
        depth=400.0,
        anew=0.3,
        model_batch=1024,
        model_share=0.1,
        model_steps=27,
    )


def size(spec: Spec) -> float:
    """How much there is to learn about a task, 1 to 4: what each action does to each number, and with which
    others, grows with the square of actions × numbers."""
    return min(4.0, max(1.0, (spec.observation_size * spec.actions) ** 2 / 350.0))


def widths(spec: Spec, width: int) -> tuple[int, int]:
    """Of a model's networks; 0: by the task's size."""
    width = width or 128 * round(size(spec) ** 0.5)
    return width, width


def iterations_for(spec: Spec, row: LogRow) -> int:
    """Steps are of one size in KL divergence, so a policy with more to decide has further to go."""
    return round(360 * size(spec)) if row.iterations is None else row.iterations


def favour(margin: float, prices: Sequence[float]) -> tuple[float, ...] | None:
    """What the actor adds to δ: where the critic's noise is larger than what actions cost, the one that costs
    least is taken. To rest is then to rest."""
    if not margin or not len(prices):
        return None
    cheapest, room = int(np.argmax(prices)), float(np.ptp(prices))
    return tuple(margin * room if action == cheapest else 0.0 for action in range(len(prices)))


def from_log(
    algorithm: str,
    spec: Spec,
    reward: float,
    *,
    gamma: float | None = None,
    iterations: int | None = None,
    prices: Sequence[float] = (),
    row: LogRow = DEFAULT,
) -> LogExperiment:
    """The composition for rewards of this mean size; γ and iterations are the row's unless they are given.
    ``prices`` is what each action earns by itself, where that is known."""
    gamma = row.gamma if gamma is None else gamma
    iterations = iterations_for(spec, row) if iterations is None else iterations
    network = MLP(
        spec.observation_size,
        row.actor,
        spec.actions,
        activation="tanh",
        bias=row.bias,
        initialisation="zero",
    )
    td = TD(
        MLP(spec.observation_size, row.value, 1, activation="relu"),
        Adam(Constant(row.value_rate)),
        target_rate=row.target_rate,
        bounded=True,
        unit=0.01 * reward / (1.0 - gamma),
    )
    direction: Direction
    step: ActorStep
    imagined = row.imagined
    if algorithm == "bc":
        imagined = 0.0  # what was done is what was recorded
        direction, step, share = Imitation(), Free(Adam(Constant(row.imitation_rate))), 0.0
    else:
        natural, share = algorithm == "offnac", row.share
        direction = Ridge(row.damping, row.memory) if natural else Vanilla()
        # The vanilla direction is shorter than x by about the eigenvalues of F.
        rate = row.actor_rate / reward if natural else 10.0 * row.actor_rate / reward
        step = TrustRegion(rate=Constant(rate), kl=RobbinsMonro(row.kl, 1.0, row.kl_horizon * iterations))
    model = Model(
        spec.actions,
        row.model_members,
        widths(spec, row.model),
        row.model_batch,
        share=row.model_share,
        decay=row.model_decay,
        passes=row.model_passes,
        most=row.model_steps * iterations,
    )
    return LogExperiment(
        ActorCritic(
            policy=SoftmaxPolicy(network),
            ratios=Ratios(
                One(), LeastSquares("direct", Fourier(64), ridge=row.ratio_ridge, bound=row.ratio_bound)
            ),
            critic=Minibatches(Cautious(td, row.caution, row.reach), row.minibatches),
            direction=direction,
            step=step,
            gamma=gamma,
            favour=favour(row.margin, prices) if algorithm != "bc" else None,
        ),
        Drawing(
            Imagination(model, imagined, row.depth, row.anew),
            row.batch,
            row.ratio_rows,
            share,
            row.held_out_rows,
        ),
        iterations,
    )
