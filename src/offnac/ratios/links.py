"""Where a row leads: the s′ of the chain whose distribution is estimated."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.ratios.data import RatioData


class Links(NamedTuple):
    next_observation: Float[Array, "n d"]
    followed: Float[Array, " n"]
    """0: the row's link is dropped."""


def restart(data: RatioData, key: PRNGKeyArray) -> Links:
    """The restart chain (errata row 14): a terminated row leads to s₀ ~ d₀, a truncated one nowhere.

    Its d̃ is the terminating chain's, scaled to one, so every form's exact ratio has E_D[w] = 1.
    """
    batch = data.batch
    starts = jax.random.choice(key, data.initial, (batch.terminated.shape[0],))
    followed = batch.terminated | ~batch.truncated
    leads_to = jnp.where(batch.terminated[:, None], starts, batch.next_observation)
    return Links(leads_to, followed.astype(data.weight.dtype))


def raw(data: RatioData, key: PRNGKeyArray) -> Links:
    """s′ as it came, the published way."""
    return Links(data.batch.next_observation, jnp.ones_like(data.weight))


LINKS: dict[str, Callable[[RatioData, PRNGKeyArray], Links]] = {"restart": restart, "raw": raw}
