"""When a task ends, learned from the log: the log odds that it does after (s, a), and the reward if so.

Fitted apart from the rest of the model, with small networks and for long. That nothing ends while one
stands still is worth knowing to a tenth of a percent: over hundreds of steps a hazard of one percent is
certain ruin, and a policy would rather never arrive.
"""

from threading import Event
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from offnac.errors import Stopped
from offnac.networks import MLP, Parameters, evaluate, initialise
from offnac.optimisers import Adam
from offnac.schedules import Clock, Cosine
from offnac.training.from_log.data import LogData
from offnac.training.from_log.ranges import Ranges, of_all_kinds, seen
from offnac.training.threads import over_threads

HIDDEN = (64, 64)
MEMBERS = 2
BATCH = 256
SHARE = 0.5
"""The part of the rows that is drawn from all kinds alike."""
RATE = 1e-2
PASSES, LEAST, MOST = 20.0, 1000, 40_000
"""How often it looks at each row of the log, as far as that takes as many steps as these."""
STEPS_AN_END = 6.0
"""No more steps than this for each end in the log: a few ends would be learned by heart."""
AT_A_TIME = 1000
SEED = 0xE2D


class Ends(NamedTuple):
    psi: Float[Array, "members k"]

    def __call__(
        self, ranges: Ranges, observation: Float[Array, "n d"], action: Int[Array, " n"]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """The members' common opinion: log odds of an end, and its reward in units of those seen."""
        shown = known(ranges, observation, action)
        said = jnp.stack([evaluate(_network(shown.shape[1]), psi, shown) for psi in self.psi])
        odds, last = jnp.mean(said, axis=0).T
        return odds, last


def fit(data: LogData, ranges: Ranges, stop: Event) -> Ends:
    """The ends of a log, each member by a thread of its own."""
    data = of_all_kinds(data, ranges)
    size = 2 * len(ranges.zero) + len(ranges.price)
    ended = int(jnp.sum(data.rows.terminated[: int(data.size)]))
    steps = int(max(min(PASSES * int(data.size) / BATCH, STEPS_AN_END * ended, MOST), LEAST))
    keys = jax.random.split(jax.random.key(SEED), MEMBERS)

    def member(i: int) -> Parameters:
        psi = initialise(_network(size), keys[i])
        optimiser = Adam(Cosine(RATE, steps)).init(psi)
        for start in range(0, steps, AT_A_TIME):
            if stop.is_set():
                raise Stopped
            count = min(AT_A_TIME, steps - start)
            psi, optimiser = _learn(data, ranges, psi, optimiser, start, count, steps, keys[i])
        return psi

    member_psi = over_threads(member, range(MEMBERS), MEMBERS, stop)
    return Ends(jnp.stack(member_psi))


def _network(size: int) -> MLP:
    return MLP(size, HIDDEN, 2, activation="silu")


def known(ranges: Ranges, observation: Float[Array, "n d"], action: Int[Array, " n"]) -> Float[Array, "n k"]:
    chosen = jax.nn.one_hot(action, len(ranges.price), dtype=observation.dtype)
    return jnp.concatenate([seen(ranges.zero, observation), chosen], axis=1)


@jax.jit
def _learn(
    data: LogData,
    ranges: Ranges,
    psi: Parameters,
    optimiser: Any,
    start: int,
    count: int,
    steps: int,
    key: PRNGKeyArray,
) -> tuple[Parameters, Any]:
    adam = Adam(Cosine(RATE, steps))

    def step(i: Int[Array, ""], carry: tuple[Parameters, Any]) -> tuple[Parameters, Any]:
        psi, optimiser = carry
        rows = data.draw(BATCH, SHARE, jax.random.fold_in(key, i))
        shown = known(ranges, rows.observation, rows.action)
        earned = (rows.reward - ranges.reward[1]) / ranges.reward[2]

        def loss(psi: Parameters) -> Float[Array, ""]:
            odds, last = evaluate(_network(shown.shape[1]), psi, shown).T
            ended = optax.sigmoid_binary_cross_entropy(odds, rows.terminated.astype(odds.dtype))
            return jnp.mean(ended + rows.terminated * (last - earned) ** 2)

        clock = Clock.start()._replace(step=i)
        optimiser, move = adam.update(optimiser, -jax.grad(loss)(psi), clock)
        return psi + move, optimiser

    return jax.lax.fori_loop(start, start + count, step, (psi, optimiser))
