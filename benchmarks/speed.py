"""Training steps per second on one core, once compiled: every algorithm on the JAX-native tasks.

Whole runs as ``train`` makes them, ratio updates and evaluation episodes
included, checkpoints and tests not. Median of repeats. Writes
``results/bench/speed.json``.

    make bench
"""

import argparse
import os
import platform
import statistics
import time
from pathlib import Path

for name in ("NPROC", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import jax  # noqa: E402

from offnac import environments, files, presets  # noqa: E402
from offnac.provenance import now, versions  # noqa: E402
from offnac.training import native  # noqa: E402
from offnac.training.protocol import start  # noqa: E402

RESULTS = Path(__file__).parents[1] / "results" / "bench"
EPISODES = {"CartPole-v1": 1000, "Acrobot-v1": 60, "MountainCar-v0": 10}


def measure(task: str, algorithm: str, repeats: int, seed: int = 0) -> dict[str, object]:
    environment = environments.make(task, presets.max_steps(task))
    experiment = presets.experiment("published", algorithm, environment.spec)
    rates, compile_seconds = [], 0.0
    for repeat in range(repeats + 1):
        run = start(
            experiment.algorithm, experiment.protocol, environment.spec, jax.random.key(seed + repeat)
        )
        began = time.perf_counter()
        run, _ = native.chunk(
            environment, experiment.algorithm, experiment.protocol, run, EPISODES[task], capacity=1024
        )
        jax.block_until_ready(run)
        seconds = time.perf_counter() - began
        if repeat == 0:
            compile_seconds = seconds
        else:
            rates.append(int(run.train_steps) / seconds)
    return {
        "environment": task,
        "algorithm": algorithm,
        "steps_per_second": statistics.median(rates),
        "lowest": min(rates),
        "highest": max(rates),
        "first_call_seconds": compile_seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "speed.json")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    rows = []
    for task in EPISODES:
        for algorithm in presets.ALGORITHMS:
            row = measure(task, algorithm, arguments.repeats)
            rows.append(row)
            print(f"{task:15} {algorithm:7} {row['steps_per_second']:>10,.0f} training steps/s", flush=True)
    files.write_json(
        arguments.out,
        {
            "what": "training steps per second on one core, preset published, once compiled",
            "machine": {"processor": platform.machine(), "cores_used": 1},
            "versions": versions(),
            "date": now(),
            "rows": rows,
        },
    )


if __name__ == "__main__":
    main()
