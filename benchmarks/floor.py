"""How far one training step is from what the core could do: operations and bytes counted, rates measured.

The floor is the larger of two times: the operations that the algorithm needs, at the core's best rate (a
product of matrices), and the learner's state read and written once, at the core's rate of copying within its
cache. The count is by hand, with everything shared that can be shared; beside it stands what XLA counts in
the program that it compiled. Writes ``results/bench/floor.json``; a minute.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import harness
import jax
import numpy as np
from harness import Results, Row, clock, in_turn, spread
from online import EPISODES, ours

from offnac import environments, presets
from offnac.behaviour import Acting
from offnac.environments.episode import advance, begin
from offnac.networks import MLP
from offnac.training.protocol import start

TASKS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")
ALGORITHMS = ("ac", "nac")
ADAM = 14
"""Operations of Adam for each parameter: 7 for the moments, 2 corrections, root, ε, quotient, rate, step."""
MATRIX, COPIED = 512, 1 << 18
"""Large enough that a call's own cost does not count, small enough for the cache."""
SECONDS, AT_ONCE = 0.2, 20


def passes(network: MLP) -> tuple[int, int, int]:
    """Parameters, operations of a pass forward, and of one back to the gradient."""
    sizes = (network.inputs, *network.hidden, network.outputs)
    weights = [before * after for before, after in pairwise(sizes)]
    biases = sum(sizes[1:]) * network.bias
    return sum(weights) + biases, 2 * sum(weights) + biases, sum(weights) + 2 * sum(weights[1:])


def by_hand(algorithm: Any, natural: bool) -> dict[str, float]:
    """One step of Algorithm 1, the simulator and the random numbers left out."""
    k, act, phi = passes(algorithm.policy.network)
    m, value, gradient = passes(algorithm.critic.network)
    critic = 2 * value + gradient + ADAM * m  # V(s), V(s′), ∇V(s), the step
    delta = 2 * value  # with the new ψ
    direction = k + (2 * k + ADAM * k if natural else 0)  # cφ; for x also xᵀφ and the step
    actor = ADAM * k
    vectors = 3 * m + (6 if natural else 3) * k  # each with Adam's two moments
    return {
        "operations": float(act + phi + critic + delta + direction + actor),
        "bytes": 2.0 * 4 * vectors,
    }


def by_xla(task: str, name: str) -> dict[str, float]:
    """What XLA counts in the compiled step, simulator and random numbers included."""
    environment = environments.make(task, presets.max_steps(task))
    experiment = presets.experiment("published", name, environment.spec)
    algorithm, protocol = experiment.algorithm, experiment.protocol
    run = start(algorithm, protocol, environment.spec, jax.random.key(0))

    def step(learner: Any, episode: Any, key: Any) -> Any:
        behaviour = Acting(algorithm.policy, learner.theta)
        episode, transition = advance(environment, behaviour, episode, key)
        return algorithm.update(learner, protocol.as_learned(transition))[0], episode

    first = begin(environment, jax.random.key(1))
    cost = jax.jit(step).lower(run.learner, first, jax.random.key(2)).compile().cost_analysis()
    return {"operations": float(cost["flops"]), "bytes": float(cost["bytes accessed"])}


def matrix_rate() -> float:
    """Operations per second of a product of matrices."""
    a = np.random.default_rng(0).random((MATRIX, MATRIX), np.float32)
    return 2.0 * MATRIX**3 * _per_second(lambda: a @ a)


def copy_rate() -> float:
    """Bytes read and written per second by a copy that stays within the cache."""
    source = np.zeros(COPIED // 4, np.float32)
    target = source.copy()
    return 2.0 * source.nbytes * _per_second(lambda: np.copyto(target, source))


def _per_second(work: Callable[[], object]) -> float:
    times, began = 0, clock()
    while (now := clock() - began) < SECONDS:
        for _ in range(AT_ONCE):
            work()
        times += AT_ONCE
    return times / now


def measure(task: str, name: str, repeats: int) -> Row:
    environment = environments.make(task, presets.max_steps(task))
    algorithm = presets.experiment("published", name, environment.spec).algorithm
    hand = by_hand(algorithm, natural=name == "nac")
    found = in_turn(
        {
            "steps": ours(task, name, EPISODES[task]),
            "operations": matrix_rate,
            "bytes": copy_rate,
        },
        repeats,
    )
    rates = {what: spread(numbers) for what, numbers in found.items()}
    computing = hand["operations"] / rates["operations"]["highest"]
    moving = hand["bytes"] / rates["bytes"]["highest"]
    ours_ = 1.0 / rates["steps"]["median"]
    return {
        "repeats": repeats,
        "by_hand": hand,
        "by_xla": by_xla(task, name),
        "rates": rates,
        "floor_seconds": max(computing, moving),
        "bound_by": "operations" if computing > moving else "bytes",
        "step_seconds": ours_,
        "times_floor": ours_ / max(computing, moving),
    }


def cells(row: Row) -> list[str]:
    hand, xla, rates = row["by_hand"], row["by_xla"], row["rates"]
    return [
        row["environment"],
        row["algorithm"],
        f"{hand['operations']:,.0f} ({xla['operations']:,.0f})",
        f"{hand['bytes'] / 1e3:,.0f} kB ({xla['bytes'] / 1e3:,.0f} kB)",
        f"{rates['operations']['highest'] / 1e9:.0f} G/s",
        f"{rates['bytes']['highest'] / 1e9:.0f} GB/s",
        f"{row['floor_seconds'] * 1e6:.2f} µs ({row['bound_by']})",
        f"{row['step_seconds'] * 1e6:.2f} µs",
        f"{row['times_floor']:.1f}",
    ]


def main() -> None:
    given = harness.arguments(__doc__)
    about = (
        "One training step on one core against the larger of two times: the operations that the algorithm "
        "needs at the rate of a product of matrices, and the learner's state read and written once at the "
        "rate of a copy within the cache. In brackets: what XLA counts in the compiled step, simulator and "
        "random numbers included."
    )
    harness.one_core()
    results = Results("floor", "The floor", about, given)
    columns = [
        "task",
        "algorithm",
        "operations",
        "bytes",
        "core's rate",
        "copying",
        "floor",
        "step",
        "times floor",
    ]
    for task in TASKS:
        for name in ALGORITHMS:
            results.measure(
                {"environment": task, "algorithm": name}, partial(measure, task, name, given.repeats)
            )
            results.write(columns, cells)


if __name__ == "__main__":
    main()
