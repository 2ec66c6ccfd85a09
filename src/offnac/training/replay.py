"""Recent transitions, kept to be learned from again.

With replay an episode is only recorded while it runs; afterwards the algorithm takes
some updates, each over a batch drawn from what is kept. Every row knows the
probability that its action was taken with, so ρ corrects it whoever took it.
"""

from math import gcd
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from offnac.settings import settings, static
from offnac.transition import Spec, Transition, blank

STARTS = 256
"""Initial observations kept, for the ratios' d₀."""


BLOCK = 16
"""Rows that are counted together."""

Events = Int[Array, " blocks"]
"""How many telling rows there are among the first so many blocks of a memory."""


class Memory(NamedTuple):
    rows: Transition
    written: Int[Array, ""]
    """Rows written so far; the newest overwrites the oldest."""
    starts: Float[Array, "m d"]
    episodes: Int[Array, ""]


@settings
class Replay:
    capacity: int = static(default=1 << 15)
    batch: int = static(default=5120)
    """Rows of an update."""
    segment: int = static(default=1)
    """Consecutive rows in a batch that belong together: more than 1 for traces."""
    updates: int = 1
    """Updates after each training episode."""
    warm_up: int = 5
    """Episodes that are only recorded."""
    evidence: int = 1
    """Rows that must be unlike the others before anything is learned."""
    telling: float = 0.0
    """The share of a batch that is drawn from the steps before such rows. They are chosen by what followed:
    sound where an action always leads to the same state; where chance decides, events look likelier."""
    horizon: int = 100
    """How many steps before."""

    def empty(self, spec: Spec) -> Memory:
        rows = blank((self.capacity,), spec, jnp)
        starts = jnp.zeros((STARTS, spec.observation_size), jnp.float32)
        return Memory(rows, jnp.int32(0), starts, jnp.int32(0))

    def begin(self, memory: Memory, observation: Float[Array, " d"]) -> Memory:
        """Keep where an episode starts."""
        starts = memory.starts.at[memory.episodes % STARTS].set(observation)
        return memory._replace(starts=starts, episodes=memory.episodes + 1)

    def store(self, memory: Memory, row: Transition) -> Memory:
        """Keep one step, a batch of one."""
        at = memory.written % self.capacity
        rows = jax.tree.map(
            lambda kept, new: jax.lax.dynamic_update_slice_in_dim(kept, new.astype(kept.dtype), at, 0),
            memory.rows,
            row,
        )
        return memory._replace(rows=rows, written=memory.written + 1)

    def store_first(self, memory: Memory, rows: Transition, count: Int[Array, ""]) -> Memory:
        """Keep the first so many of some steps."""
        number = jnp.arange(rows.reward.shape[0])
        at = jnp.where(number < count, (memory.written + number) % self.capacity, self.capacity)
        kept = jax.tree.map(lambda column, new: column.at[at].set(new, mode="drop"), memory.rows, rows)
        return memory._replace(rows=kept, written=memory.written + count)

    def events(self, memory: Memory) -> Events:
        """The rows that tell one action from another, counted by blocks: to number each of them would take
        longer than the updates, where a memory holds millions."""
        number = jnp.arange(self.capacity)
        tells = self._tells(memory, number, memory.rows.terminated, memory.rows.reward)
        return jnp.cumsum(jnp.sum(tells.reshape(-1, self.block), axis=1))

    @property
    def block(self) -> int:
        return gcd(self.capacity, BLOCK)

    def _tells(
        self, memory: Memory, number: Int[Array, "..."], terminated: Array, reward: Array
    ) -> Bool[Array, "..."]:
        """A task's end, or a reward unlike the first."""
        return (number < memory.written) & (terminated | (reward != memory.rows.reward[0]))

    def _event(self, memory: Memory, events: Events, n: Int[Array, "m 1"]) -> Int[Array, "m 1"]:
        """Where the n-th of them stands, counted from 1."""
        block = jnp.searchsorted(events, n)
        rank = n - jnp.where(block > 0, events[block - 1], 0)
        number = block * self.block + jnp.arange(self.block)
        tells = self._tells(memory, number, memory.rows.terminated[number], memory.rows.reward[number])
        within = jnp.sum(jnp.cumsum(tells, axis=1) < rank, axis=1, keepdims=True)
        return block * self.block + within

    def teaches(self, events: Events) -> Bool[Array, ""]:
        """Whether enough is kept that tells one action from another. Before that every advantage is noise,
        and following it would only narrow the policy."""
        return events[-1] >= self.evidence

    def sample(self, memory: Memory, events: Events, rows: int, key: PRNGKeyArray) -> Transition:
        """Draw rows, each as likely as any other but for the share of telling ones; in segments, whose first
        row begins a trace anew."""
        any_key, event_key, before_key, which_key = jax.random.split(key, 4)
        count = (rows // self.segment, 1)
        size = jnp.minimum(memory.written, self.capacity)
        first = jax.random.randint(any_key, count, 0, jnp.maximum(size - self.segment + 1, 1))
        # The oldest row of a full memory stands where the next one will be written.
        oldest = jnp.where(memory.written > self.capacity, memory.written % self.capacity, 0)
        first = oldest + first
        # An event has as many rows of its episode before it as its step's number says.
        event = self._event(memory, events, jax.random.randint(event_key, count, 1, events[-1] + 1))
        before = jnp.minimum(jax.random.randint(before_key, count, 0, self.horizon), memory.rows.step[event])
        told = jnp.maximum(event - jnp.maximum(before, self.segment - 1), 0)
        first = jnp.where(jax.random.uniform(which_key, count) < self.telling, told, first)
        index = (first + jnp.arange(self.segment)) % self.capacity
        batch = jax.tree.map(lambda column: column[index.reshape(-1)], memory.rows)
        if self.segment == 1:
            return batch
        begins = jnp.arange(rows) % self.segment == 0
        return batch._replace(step=jnp.where(begins, 0, batch.step))

    def initial(self, memory: Memory, count: int, key: PRNGKeyArray) -> Float[Array, "count d"]:
        """Draw from the starts kept: s₀ ~ d₀."""
        index = jax.random.randint(key, (count,), 0, jnp.minimum(memory.episodes, STARTS))
        return memory.starts[index]
