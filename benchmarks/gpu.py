"""Training on a GPU: the kernel beside XLA, against the number of seeds, and every algorithm on every task.

*At work*: every seed takes the same number of steps, so that none waits; by the number of warps (of 32
threads) that a seed is given. *Whole episodes*: some episodes of every seed as ``train`` runs them, where
seeds whose episodes are short wait for the others; XLA has this mode only. Writes
``results/bench/gpu.json``; a GPU of NVIDIA's is needed, and some minutes.

``profile`` in that file is Nsight Compute's of one launch, entered by hand:
``ncu --clock-control none -k regex:fly python benchmarks/gpu.py --only "132 kernel, 8 warps" --again``.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Results, Row, spread

from offnac import environments, files, presets
from offnac.training import batched, on_chip
from offnac.training.on_chip import program
from offnac.training.on_chip.tasks import TASKS
from offnac.training.protocol import Experiment, Run, start

SEEDS = (1, 8, 64, 132, 264, 1056, 8448, 33_792, 131_072)
TASK, ALGORITHM, MANY = "CartPole-v1", "nac", 1056
WARPS = (4, 8)
EPISODES = 16
AT_WORK = 5e7
"""Steps of all seeds together in a timed launch: about a second of them."""
NEVER = 2**30
ABOUT = """\
Training steps per second, preset `published`: the kernel that keeps a seed's networks on the chip. Named by
its warps: all seeds at work all the time (off-policy, the ratios' rollouts and the evaluation take their
time, but their steps are not counted). Whole episodes: as `train` runs them, short ones waiting for long
ones. `train` gives a seed 8 warps where there are up to 132 of them, else 4."""
BECAUSE = """\
Why it is not faster (Nsight Compute, {seeds} seeds of {algorithm}, {warps} warps): a step takes each warp
{instructions_per_warp_and_step:,.0f} instructions; of those over floats {fused:.0%} are a product and a sum
in one, for the sums of a matrix's product are taken by the compiler's own code. {registers_per_thread}
registers a thread leave room for {warps_per_multiprocessor} warps on a multiprocessor, too few to hide that a
warp is ready for its next instruction after {warp_cycles_per_instruction} cycles on average: instructions are
issued in {issue_slots_used:.0%} of the cycles."""
COLUMNS = (
    "task",
    "algorithm",
    "seeds",
    "program",
    "million training steps/s, median",
    "lowest",
    "highest",
    "on",
)


def at_work(task: Any, chosen: Experiment, seeds: int, warps: int, repeats: int) -> Row:
    settings = (task, chosen.algorithm, chosen.protocol)

    @partial(jax.jit, donate_argnames="carry")
    def fly(carry: program.Carry, steps: int) -> program.Carry:
        return program.fly(settings, carry, jnp.full(seeds, NEVER), steps, warps=warps)

    # What is given away must not be there twice; numbers that begin alike may share their memory.
    carry = jax.tree.map(jnp.copy, program.board(settings, runs_of(task, chosen, seeds), 64))
    carry = jax.block_until_ready(fly(carry, 500))
    steps, rates = int(np.clip(AT_WORK / seeds, 1000, 50_000)), []
    for _ in range(repeats):
        before, began = steps_of(carry.flights.run), time.perf_counter()
        carry = jax.block_until_ready(fly(carry, steps))
        rates.append((steps_of(carry.flights.run) - before) / (time.perf_counter() - began))
    return {"steps_per_second": spread(rates)}


def whole_episodes(task: Any, chosen: Experiment, seeds: int, chunk: Callable[..., Any], repeats: int) -> Row:
    settings = (task, chosen.algorithm, chosen.protocol)
    runs, rates = jax.block_until_ready(chunk(*settings, runs_of(task, chosen, seeds), 1, EPISODES))[0], []
    for _ in range(repeats):
        before, began = steps_of(runs), time.perf_counter()
        runs, _ = jax.block_until_ready(chunk(*settings, runs, EPISODES, EPISODES))
        rates.append((steps_of(runs) - before) / (time.perf_counter() - began))
    return {"steps_per_second": spread(rates)}


def runs_of(task: Any, chosen: Experiment, seeds: int) -> Run:
    keys = jax.random.split(jax.random.key(0), seeds)
    return jax.vmap(lambda key: start(chosen.algorithm, chosen.protocol, task.spec, key))(keys)


def steps_of(runs: Run) -> int:
    return int(np.asarray(runs.learner.clock.step, np.int64).sum())


def cells(row: Row) -> list[str]:
    rates = [f"{row['steps_per_second'][name] / 1e6:.1f}" for name in ("median", "lowest", "highest")]
    return [row["task"], row["algorithm"], f"{row['seeds']:,}", row["program"], *rates, row["date"][:10]]


def measure(results: Results, name: str, algorithm: str, seeds: int, repeats: int) -> None:
    task = environments.make(name, presets.max_steps(name))
    chosen = presets.experiment("published", algorithm, task.spec)
    contenders: dict[str, Callable[[], Row]] = {
        f"kernel, {warps} warps": partial(at_work, task, chosen, seeds, warps, repeats) for warps in WARPS
    }
    chunks = {"kernel, whole episodes": on_chip.chunk, "XLA, whole episodes": batched.chunk}
    for contender, chunk in chunks.items():
        contenders[contender] = partial(whole_episodes, task, chosen, seeds, chunk, repeats)
    for contender, work in contenders.items():
        results.measure({"task": name, "algorithm": algorithm, "seeds": seeds, "program": contender}, work)
        save(results)


def save(results: Results) -> None:
    """What was measured; the profile stays as it is."""
    known = files.read_json(results.path) if results.path.exists() else {}
    profile = known.get("profile")
    if profile is not None:
        results.head["about"] = f"{ABOUT}\n\n{BECAUSE.format(**profile)}"
    results.write(COLUMNS, cells, profile=profile)


def main() -> None:
    given = harness.arguments(__doc__)
    results = Results("gpu", "On a GPU", ABOUT, given)
    results.head["machine"] = {"model": jax.devices()[0].device_kind}
    for seeds in SEEDS:
        measure(results, TASK, ALGORITHM, seeds, given.repeats)
    for name in TASKS:
        for algorithm in presets.ALGORITHMS:
            measure(results, name, algorithm, MANY, given.repeats)


if __name__ == "__main__":
    main()
