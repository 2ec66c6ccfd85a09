"""What a seed has recorded, studied once before it learns: as `learn` studies a log."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

import jax
import numpy as np

from offnac.logs.log import Log
from offnac.training.from_log.data import load
from offnac.training.from_log.imagination import Foresight
from offnac.training.from_log.model import fit
from offnac.training.from_log.potential import find, over_rows
from offnac.training.from_log.ranges import of_rewards, ranges_of
from offnac.training.from_log.units import Units
from offnac.training.protocol import Experiment, Protocol
from offnac.training.replay import Memory
from offnac.transition import Spec


def study(
    memory: Memory, experiment: Experiment, spec: Spec, fitted: Callable[[str, int, int], None], stop: Event
) -> Foresight:
    """The potential and the model of what is kept; the same for the same rows. ``fitted`` is told what is
    fitted, how many steps of that are done, and of how many."""
    imagination, gamma = experiment.protocol.imagination, float(experiment.algorithm.gamma)
    assert imagination is not None
    units = shown(experiment.protocol, spec)
    log = recorded(memory, units, spec)
    potential = find(log, log, units, partial(fitted, "what shapes rewards"), stop)
    data = load(log, units, 1.0 / (1.0 - gamma))
    ranges = ranges_of(data, units, spec.actions)
    data = over_rows(data, potential.taken_out)
    told = partial(fitted, "a model")
    return Foresight(fit(imagination.model, data, of_rewards(ranges, data), told, stop), potential)


def shown(protocol: Protocol, spec: Spec) -> Units:
    """The units that observations are learned from in."""
    mean, scale = protocol.mean, protocol.scale
    if mean is None or scale is None:
        mean, scale = (0.0,) * spec.observation_size, (1.0,) * spec.observation_size
    return Units(np.asarray(mean, np.float32), np.asarray(scale, np.float32), 1.0)


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
