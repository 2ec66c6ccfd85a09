"""Numbers of a state that take only two values, and those that together name one of several kinds.

Of a kind written as one flag each (one-hot) exactly one is high. Tossed one by one they would make states
that cannot be, two kinds at once or none.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

MOST = 20.0
"""Of log odds: nothing is more certain than this."""


def groups(high: NDArray[np.bool_], flag: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each column the first one of its group: flags of which exactly one is high in every row. A group is
    gathered from the left, of flags that are never high together; who finds none is alone."""
    group = np.arange(len(flag), dtype=np.int32)
    free = flag.copy()
    for first in np.flatnonzero(flag):
        if not free[first]:
            continue
        members, seen = [first], high[:, first].copy()
        for other in np.flatnonzero(free):
            if other > first and not (seen & high[:, other]).any():
                members.append(other)
                seen |= high[:, other]
        if seen.all():
            group[members], free[members] = first, False
    return group


def surprise(
    odds: Float[Array, "n d"], high: Float[Array, "n d"], group: Int[Array, " d"]
) -> Float[Array, "n d"]:
    """−log of the probability of what was seen; of a group, at its flag that is high."""
    together = _together(group)
    odds = jnp.clip(odds, -MOST, MOST)
    kind = high * (jnp.log(jnp.exp(odds) @ together) - odds)
    return jnp.where(_alone(together), jax.nn.softplus(odds) - high * odds, kind)


def toss(odds: Float[Array, "n d"], group: Int[Array, " d"], key: PRNGKeyArray) -> Bool[Array, "n d"]:
    """Which flags are high: a lone one by its log odds, of a group one by theirs."""
    together = _together(group)
    weight, uniform = jnp.exp(jnp.clip(odds, -MOST, MOST)), jax.random.uniform(key, odds.shape)
    # A group throws its first flag's number at the line on which its flags lie side by side.
    right = weight @ jnp.triu(together)
    thrown = uniform[:, group] * (weight @ together)
    kind = (right - weight <= thrown) & (thrown < right)
    return jnp.where(_alone(together), uniform < jax.nn.sigmoid(odds), kind)


def _together(group: Int[Array, " d"]) -> Float[Array, "d d"]:
    return (group[:, None] == group).astype(jnp.float32)


def _alone(together: Float[Array, "d d"]) -> Bool[Array, " d"]:
    return together.sum(axis=0) == 1
