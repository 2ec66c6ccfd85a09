"""The settings of the paper's tables, and of the published configuration where it differs."""

from dataclasses import dataclass, replace

Bands = tuple[tuple[float, float, float], ...]
"""(low, high, rate): the rate while the best running average is in [low, high)."""

ALGORITHMS = ("ac", "nac", "offac", "offnac")


@dataclass(frozen=True)
class Row:
    """One line of a table: hidden sizes, rates, and when the published rates drop."""

    actor: tuple[int, ...]
    value: tuple[int, ...]
    actor_rate: float
    value_rate: float
    x_rate: float = 0.0
    ratio_rate: float = 0.0
    ratio_steps: int = 0
    actor_drops: Bands = ()
    x_drops: Bands = ()
    value_drops: Bands = ()
    adam_actor: bool = True
    """Whether θ and x move by Adam; on Mountain Car they took plain steps (errata row 21)."""


MAX_STEPS = {"MountainCar-v0": 10_000}
"""Time limits of the paper where they differ from the task's own."""

OFF_POLICY_EPISODES = {"Acrobot-v1": 500}
EPISODES = 1000

_CARTPOLE = {
    "ac": Row((16,), (64, 64), 1e-3, 5e-3),
    "nac": Row((16,), (64, 64), 1e-3, 1e-2, 1e-3),
    "offac": Row((16,), (64, 64), 5e-4, 1e-2, ratio_rate=1e-3, ratio_steps=20),
    "offnac": Row((16,), (64, 64), 5e-4, 1e-2, 1e-2, ratio_rate=1e-2, ratio_steps=20),
}
_ACROBOT = {
    "ac": Row((32,), (32, 32), 5e-4, 1e-3),
    "nac": Row((32,), (32, 32), 1e-4, 5e-3, 1e-3),
    "offac": Row((32,), (32, 32), 1e-4, 5e-3, ratio_rate=1e-4, ratio_steps=10),
    "offnac": Row((32,), (32, 32), 5e-5, 5e-3, 1e-4, ratio_rate=1e-4, ratio_steps=10),
}
_MOUNTAIN_CAR = {
    "ac": Row((32,), (32, 32), 1e-3, 5e-3, adam_actor=False),
    "nac": Row((32,), (32, 32), 1e-5, 5e-3, 1e-4, adam_actor=False),
    "offac": Row((32,), (32, 32), 1e-4, 5e-3, ratio_rate=1e-2, ratio_steps=20, adam_actor=False),
    "offnac": Row((32,), (32, 32), 1e-6, 5e-3, 1e-4, ratio_rate=1e-2, ratio_steps=10, adam_actor=False),
}
_MOUNTAIN_CAR_LAMBDA = {
    "ac": Row((32,), (32, 32), 5e-3, 5e-2, adam_actor=False),
    "nac": Row((32,), (32, 32), 1e-4, 5e-2, 1e-3, adam_actor=False),
    "offac": Row((32,), (32, 32), 1e-4, 5e-3, ratio_rate=1e-2, ratio_steps=10, adam_actor=False),
    "offnac": Row((32,), (32, 32), 1e-6, 5e-3, 1e-4, ratio_rate=1e-2, ratio_steps=10, adam_actor=False),
}
_LUNAR_LANDER = {
    "ac": Row((16,), (64, 64), 1e-3, 5e-3),
    "nac": Row((16,), (64, 64), 1e-4, 5e-3, 1e-3),
    "offac": Row((128,), (128, 128), 1e-3, 1e-2, ratio_rate=1e-4, ratio_steps=10),
    "offnac": Row((128,), (128, 128), 1e-5, 1e-2, 5e-3, ratio_rate=1e-3, ratio_steps=20),
}

PAPER = {
    "CartPole-v1": _CARTPOLE,
    "Acrobot-v1": _ACROBOT,
    "MountainCar-v0": _MOUNTAIN_CAR,
    "LunarLander-v3": _LUNAR_LANDER,
}
PAPER_LAMBDA = {"MountainCar-v0": _MOUNTAIN_CAR_LAMBDA}
LAMBDA = {"ac": 0.7, "nac": 1.0, "offac": 0.7, "offnac": 1.0}
"""The paper's λ for Mountain Car."""


def _drop(row: Row, low: float, high: float, *, theta: float, value: float, x: float = 0.0) -> Row:
    """Add a band in which the published rates are these."""
    return replace(
        row,
        actor_drops=(*row.actor_drops, (low, high, theta)),
        value_drops=(*row.value_drops, (low, high, value)),
        x_drops=(*row.x_drops, (low, high, x)),
    )


PUBLISHED = {
    "CartPole-v1": {
        "ac": _drop(_CARTPOLE["ac"], 400, 500, theta=1e-6, value=1e-6),
        "nac": _drop(_CARTPOLE["nac"], 499, 500, theta=1e-5, value=1e-5, x=1e-5),
        "offac": _drop(replace(_CARTPOLE["offac"], actor_rate=5e-3), 450, 500, theta=1e-6, value=1e-6),
        "offnac": _drop(
            replace(_CARTPOLE["offnac"], actor_rate=1e-3, x_rate=1e-3),
            499,
            500,
            theta=1e-6,
            value=1e-6,
            x=1e-6,
        ),
    },
    "Acrobot-v1": {**_ACROBOT, "offnac": replace(_ACROBOT["offnac"], actor_rate=1e-4)},
    "MountainCar-v0": {
        "ac": replace(_MOUNTAIN_CAR["ac"], actor_rate=5e-4),
        "nac": replace(_MOUNTAIN_CAR["nac"], x_rate=1e-3),
        "offac": _drop(
            replace(_MOUNTAIN_CAR["offac"], actor_rate=1e-5, ratio_rate=1e-4),
            -200,
            -100,
            theta=1e-7,
            value=1e-7,
        ),
        "offnac": _drop(
            replace(_MOUNTAIN_CAR["offnac"], actor_rate=1e-5, x_rate=1e-3, value_rate=1e-3, ratio_rate=1e-4),
            *(-200, -100),
            theta=1e-8,
            value=1e-7,
            x=1e-7,
        ),
    },
    "LunarLander-v3": {
        "ac": _drop(
            _drop(_LUNAR_LANDER["ac"], 180, 200, theta=1e-4, value=5e-4), 200, 220, theta=1e-5, value=5e-5
        ),
        "nac": _drop(_LUNAR_LANDER["nac"], 180, 220, theta=1e-6, value=1e-6, x=1e-6),
        "offac": _drop(
            _drop(replace(_LUNAR_LANDER["offac"], value_rate=5e-3), -10, 0, theta=1e-4, value=5e-4),
            *(30, 100),
            theta=1e-6,
            value=5e-2,
        ),
        "offnac": _drop(
            replace(_LUNAR_LANDER["offnac"], x_rate=1e-4, value_rate=5e-4),
            0,
            220,
            theta=1e-6,
            value=5e-5,
            x=1e-5,
        ),
    },
}
