"""Training steps per second of ours alone, once compiled: every algorithm on the JAX-native tasks.

The first half of online.py, for a machine without the peers. Writes ``results/bench/speed.json``; two
minutes.

    make bench ARGS=speed
"""

from functools import partial

import harness
from harness import Results, Row, in_turn, spread
from online import EPISODES, ours

from offnac import presets

TASKS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")


def measure(task: str, algorithm: str, repeats: int) -> Row:
    found = spread(in_turn({algorithm: ours(task, algorithm, EPISODES[task])}, repeats)[algorithm])
    return {"repeats": repeats, "steps_per_second": found.pop("median"), **found}


def cells(row: Row) -> list[str]:
    rates = (f"{row[name]:,.0f}" for name in ("steps_per_second", "lowest", "highest"))
    return [row["environment"], row["algorithm"], *rates]


def main() -> None:
    given = harness.arguments(__doc__)
    about = (
        "Training steps per second on one core, preset `published`, once compiled. Whole episodes as "
        "`train` runs them: off-policy the ratio updates and the evaluation episodes are in the time, but "
        "only training steps are counted."
    )
    harness.one_core()
    results = Results("speed", "Training in a simulator, ours alone", about, given)
    for task in TASKS:
        for algorithm in presets.ALGORITHMS:
            key = {"environment": task, "algorithm": algorithm}
            results.measure(key, partial(measure, task, algorithm, given.repeats))
            results.write(["task", "algorithm", "training steps/s, median", "lowest", "highest"], cells)


if __name__ == "__main__":
    main()
