"""What a seed has recorded, studied once before it learns: as `learn` studies a log."""

from threading import Event
from typing import Any

import jax
import numpy as np

from offnac.logs.log import Log
from offnac.training.from_log.data import load
from offnac.training.from_log.imagination import Foresight, Imagination
from offnac.training.from_log.model import fit
from offnac.training.from_log.potential import find, over_rows
from offnac.training.from_log.ranges import of_rewards, ranges_of
from offnac.training.from_log.units import Units
from offnac.training.progress import Fitting
from offnac.training.replay import Memory
from offnac.transition import Spec


def study(
    memory: Memory,
    units: Units,
    imagination: Imagination,
    spec: Spec,
    gamma: float,
    fitted: Fitting,
    stop: Event,
) -> Foresight:
    """The potential and the model of what is kept; the same for the same rows."""
    log = recorded(memory, units, spec)
    potential = find(log, log, units, fitted, stop)
    data = load(log, units, 1.0 / (1.0 - gamma))
    ranges = ranges_of(data, units, spec.actions)
    data = over_rows(data, potential.taken_out)
    return Foresight(fit(imagination.model, data, of_rewards(ranges, data), fitted, stop), potential)


def recorded(memory: Memory, units: Units, spec: Spec) -> Log:
    """What is kept, the oldest first, as it was observed."""
    capacity, written = len(memory.rows.action), int(memory.written)
    order = np.arange(max(0, written - capacity), written) % capacity
    rows: Any = jax.tree.map(lambda column: np.asarray(column)[order], memory.rows)

    def observed(shown: Any) -> Any:
        return shown * units.scale + units.mean

    rows = rows._replace(
        observation=observed(rows.observation), next_observation=observed(rows.next_observation)
    )
    # The oldest episode may have lost its beginning to newer ones.
    episode = np.cumsum((rows.step == 0) | (np.arange(len(order)) == 0)) - 1
    return Log(spec, rows, episode)
