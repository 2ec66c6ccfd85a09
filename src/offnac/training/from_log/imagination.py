"""Rows that nobody recorded, beside those that somebody did: steps of π on walks in a model."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from offnac.networks import Parameters
from offnac.policy import SoftmaxPolicy
from offnac.settings import settings, static
from offnac.training.from_log import imagine, model, potential
from offnac.training.from_log.model import Model, ModelState
from offnac.training.from_log.potential import Potential
from offnac.transition import Spec, Transition

STEPS = 8
"""That every walk in the model goes on in an update."""
IMAGINE = 0x1A61
"""Sets the random numbers of what is imagined apart."""

States = Callable[[int, PRNGKeyArray], Float[Array, "count d"]]
"""So many states, drawn."""
Draw = Callable[[int, PRNGKeyArray], Transition]
"""So many rows, drawn."""
Walks = Float[Array, "members walks d"]
"""Where π has come to in the model."""


class Foresight(NamedTuple):
    """What recorded rows tell of those that were not recorded."""

    model: ModelState
    potential: Potential
    """What has been taken out of the model's rewards."""


class Imagined(NamedTuple):
    """What a run carries from update to update."""

    foresight: Foresight
    walks: Walks


@settings
class Imagination:
    """How much of what is learned from is imagined, and how far π is followed."""

    model: Model
    """What carries π beyond recorded states."""
    share: float = static(default=0.5)
    """The part of the rows that is imagined, steps of π in the model; 0 for none."""
    depth: float = 24.0
    """Steps in the mean before a walk of π in the model begins again."""
    anew: float = 0.0
    """The part of the walks that begin where episodes begin; the others begin at recorded states."""

    def empty(self, spec: Spec, batch: int) -> Imagined:
        """Before anything has been recorded."""
        size = spec.observation_size
        foresight = Foresight(model.blank(self.model, size), potential.blank(size, spec.actions))
        return Imagined(foresight, self.no_walks(batch, size))

    def no_walks(self, batch: int, size: int) -> Walks:
        """Room for the walks of each member of the model: as many as make the imagined rows of a batch."""
        return jnp.zeros(
            (self.model.members, -(-int(self.share * batch) // (STEPS * self.model.members)), size)
        )

    def go_on(
        self,
        foresight: Foresight,
        policy: SoftmaxPolicy,
        theta: Parameters,
        gamma: float,
        walks: Walks,
        first: Bool[Array, ""],
        recorded: States,
        starts: States,
        key: PRNGKeyArray,
    ) -> tuple[Walks, Transition]:
        """What π meets next on its walks in the model. Before the ``first`` step they have not begun."""
        start_key, model_key = jax.random.split(key)
        shape = (STEPS + 1, *walks.shape[:2])
        begun = self._begin(math.prod(shape), recorded, starts, start_key).reshape(*shape, -1)
        walks = jnp.where(first, begun[0], walks)
        chance = 1.0 / self.depth
        walks, rows = imagine.rows(
            self.model, foresight.model, policy, theta, walks, begun[1:], chance, model_key
        )
        return walks, foresight.potential.discounted(rows, gamma)

    def _begin(
        self, count: int, recorded: States, starts: States, key: PRNGKeyArray
    ) -> Float[Array, "count d"]:
        row_key, start_key, which_key = jax.random.split(key, 3)
        anew = jax.random.uniform(which_key, (count, 1)) < self.anew
        return jnp.where(anew, starts(count, start_key), recorded(count, row_key))

    def mixed(self, recorded: Draw, imagined: Transition, rows: int, key: PRNGKeyArray) -> Transition:
        """Recorded rows and imagined ones, in their shares and in no order."""
        row_key, some_key, order_key = jax.random.split(key, 3)
        some = jax.random.permutation(some_key, len(imagined.action))[: int(self.share * rows)]
        known = recorded(rows - len(some), row_key)
        order = jax.random.permutation(order_key, rows)
        return jax.tree.map(lambda one, other: jnp.concatenate([one, other[some]])[order], known, imagined)
