"""Many seeds' episodes by one kernel: a program for each seed, whose networks stay on the chip."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from offnac.actor_critic import ActorCritic
from offnac.environments.gymnax import GymnaxEnvironment
from offnac.training.on_chip.flight import Flight, Settings, Shelf, again, step, take_off
from offnac.training.on_chip.instructions import compiled
from offnac.training.on_chip.networks import Actor
from offnac.training.on_chip.packing import Packed, pack, unpack
from offnac.training.protocol import Protocol, Record, Run

STEPS = 4096
"""Steps of a seed in one launch."""
ONE_EACH = 132
"""Up to so many seeds each has a multiprocessor of an H100 or H200 to itself and is given more threads."""


class Carry(NamedTuple):
    """What a launch takes and gives, for every seed."""

    flights: Flight
    best_theta: Actor
    records: Record
    """That of episode i in column i modulo their number."""


@partial(jax.jit, static_argnames=("capacity", "interpret"), donate_argnames="runs")
def chunk(
    environment: GymnaxEnvironment,
    algorithm: ActorCritic,
    protocol: Protocol,
    runs: Run,
    episodes: int,
    capacity: int,
    *,
    interpret: bool = False,
) -> tuple[Run, Record]:
    """What :func:`offnac.training.batched.chunk` does, for experiments that :func:`fits` accepts."""
    settings = (environment, algorithm, protocol)
    last = runs.episode + episodes

    def launch(carry: Carry) -> Carry:
        return fly(settings, carry, last, STEPS, interpret=interpret)

    first = board(settings, runs, capacity)
    carry = jax.lax.while_loop(lambda carry: jnp.any(carry.flights.run.episode < last), launch, first)
    after = carry.flights.run._replace(best_theta=carry.best_theta)
    # Where a seed's first episode was put depends on its number: here the rows begin with it.
    rows = (runs.episode[:, None] + jnp.arange(capacity)) % capacity
    records = jax.tree.map(lambda column: jnp.take_along_axis(column, rows, 1), carry.records)
    return jax.vmap(partial(unpack, algorithm))(runs, after), records


def board(settings: Settings, runs: Run, capacity: int) -> Carry:
    """Every run at the beginning of its next episode, with room for so many records."""
    packed = jax.vmap(partial(pack, settings[1]))(runs)
    flights = jax.vmap(lambda run: take_off(settings, run._replace(best_theta=None)))(packed)
    return Carry(flights, packed.best_theta, Record.room(len(runs.episode), capacity))


def fly(
    settings: Settings,
    carry: Carry,
    last: Int[Array, " seeds"],
    steps: int,
    *,
    warps: int | None = None,
    interpret: bool = False,
) -> Carry:
    """Up to so many steps of every seed that has not had its last episode yet.

    With 4 warps to a seed a multiprocessor holds two seeds; with 8, one that is faster.
    """
    warps = warps or (8 if len(last) <= ONE_EACH else 4)
    numbers, form = jax.tree.flatten(settings)
    leaves, tree = jax.tree.flatten(carry)
    capacity = carry.records.average.shape[1]

    def kernel(given: Any, limit: Any, last: Any, *refs: Any) -> None:
        seed, end = pl.program_id(0), last[pl.program_id(0)]
        kept: Carry = jax.tree.unflatten(tree, refs[len(leaves) :])
        mine = partial(jax.tree.map, lambda ref: ref[seed])

        def keep(run: Packed, record: Record) -> None:
            _store(kept.best_theta, run.best_theta, seed)
            _store(kept.records, record, seed, (run.episode - 1) % capacity)

        def load() -> Settings:
            return jax.tree.unflatten(form, [given[i] for i in range(len(numbers))])

        def body(_: Int[Array, ""], flight: Flight) -> Flight:
            settings = load()  # at each step: they would take up registers
            shelf = Shelf(lambda: mine(kept.best_theta), keep)
            return jax.lax.cond(
                flight.run.episode < end,
                lambda flight: step(settings, flight, shelf),
                lambda flight: flight,
                flight,
            )

        flight = again(load(), mine(kept.flights))
        _store(kept.flights, jax.lax.fori_loop(0, limit[0], body, flight), seed)

    with compiled(not interpret):
        out = pl.pallas_call(
            kernel,
            out_shape=[jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves],
            grid=last.shape,
            input_output_aliases={3 + i: i for i in range(len(leaves))},
            compiler_params=triton.CompilerParams(num_warps=warps, num_stages=1),
            interpret=interpret,
            name="fly",
        )(
            jnp.stack([jnp.asarray(number, jnp.float32) for number in numbers]),
            jnp.full(1, steps, jnp.int32),
            last,
            *leaves,
        )
    return jax.tree.unflatten(tree, out)


def _store(refs: Any, values: Any, *index: Any) -> None:
    for ref, value in zip(jax.tree.leaves(refs), jax.tree.leaves(values), strict=True):
        ref[index] = value
