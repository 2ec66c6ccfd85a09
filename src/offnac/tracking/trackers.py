"""Trackers by name."""

from collections.abc import Sequence

from offnac import extras
from offnac.errors import UserError
from offnac.suggestions import did_you_mean
from offnac.tracking.tensorboard import TensorBoard
from offnac.tracking.wandb import WeightsAndBiases

TRACKERS: dict[str, type[TensorBoard] | type[WeightsAndBiases]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
}


def require(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names of trackers whose packages are there."""
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in TRACKERS:
            advice = did_you_mean(name, TRACKERS, f"choose from {', '.join(TRACKERS)}")
            raise UserError(f"runs can be tracked in {' and '.join(TRACKERS)}, but '{name}' came; {advice}")
        extras.load(TRACKERS[name].package, f"tracking runs in {name} needs", name)
    return names
