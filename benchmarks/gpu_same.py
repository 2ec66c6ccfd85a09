"""Does the GPU's kernel train like the reference? Its steps are the reference's to rounding (the tests); its
random numbers are others. So whole runs must agree as distributions: running average of the return after some
episodes, seed by seed, by the two-sided Mann-Whitney rank test. On a machine without such a GPU the kernel's
program is interpreted. Writes ``results/bench/gpu_same.json``; minutes.
"""

from functools import partial

import harness
import jax
import numpy as np
from gpu import runs_of
from harness import Results, Row
from scipy.stats import mannwhitneyu

from offnac import environments, presets
from offnac.training import native, on_chip
from offnac.training.protocol import one_of

CELLS = (("CartPole-v1", "ac", 100), ("CartPole-v1", "nac", 100), ("CartPole-v1", "offnac", 100))
COLUMNS = ("task", "algorithm", "seeds", "episodes", "kernel: median", "reference: median", "p")


def compare(name: str, algorithm: str, seeds: int, episodes: int) -> Row:
    task = environments.make(name, presets.max_steps(name))
    chosen = presets.experiment("published", algorithm, task.spec)
    settings = (task, chosen.algorithm, chosen.protocol)
    kernel = partial(on_chip.chunk, interpret=not on_chip.has_compiler())
    ours, _ = kernel(*settings, runs_of(task, chosen, seeds), episodes, episodes)
    # One seed after the other is a CPU's work, wherever the kernel runs.
    with jax.default_device(jax.devices("cpu")[0]):
        runs = runs_of(task, chosen, seeds)
        theirs = [
            native.chunk(*settings, one_of(runs, i), episodes, episodes)[0].average for i in range(seeds)
        ]
    averages = np.asarray(ours.average), np.asarray(theirs)
    return {
        "kernel": averages[0].tolist(),
        "reference": averages[1].tolist(),
        "p": float(mannwhitneyu(*averages).pvalue),
    }


def cells(row: Row) -> list[str]:
    medians = [f"{np.median(row[name]):.1f}" for name in ("kernel", "reference")]
    return [
        row["task"],
        row["algorithm"],
        f"{row['seeds']}",
        f"{row['episodes']}",
        *medians,
        f"{row['p']:.2f}",
    ]


def main() -> None:
    given = harness.arguments(__doc__, seeds=(48, "seeds of each"))
    about = (
        "Running average of the return after some training episodes, preset `published`: the GPU kernel's "
        "program against the reference's, by the two-sided Mann-Whitney rank test over seeds."
    )
    results = Results("gpu_same", "The same on a GPU", about, given)
    results.head["machine"] = {"model": jax.devices()[0].device_kind}
    for name, algorithm, episodes in CELLS:
        key = {"task": name, "algorithm": algorithm, "seeds": int(given.seeds), "episodes": episodes}
        results.measure(key, partial(compare, *key.values()))
        results.write(COLUMNS, cells)


if __name__ == "__main__":
    main()
