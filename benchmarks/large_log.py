"""Does a log of ten million rows fit? It is made up, written, and then read and learned from (its policy
evaluated and audited, too) in a process of its own, whose time and peak memory are told. Writes
``results/large_log.json``.

    .venv/bin/python benchmarks/large_log.py                  some minutes on one core, 24 GiB at most
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from offnac import Log, Spec, Transition, files
from offnac.logs import write_log
from offnac.provenance import now, versions

OUT = Path(__file__).parents[1] / "results" / "large_log.json"
ROWS, SIZE, ACTIONS, LENGTH = 10_000_000, 8, 4, 100


def made_up(rows: int) -> Log:
    """Episodes of one length in which actions push a damped state about, all ended by the task."""
    rng = np.random.default_rng(0)
    episodes = rows // LENGTH
    push = rng.normal(size=(ACTIONS, SIZE)).astype(np.float32)
    action = rng.integers(0, ACTIONS, (episodes, LENGTH), dtype=np.int32)
    observation = np.empty((episodes, LENGTH + 1, SIZE), np.float32)
    observation[:, 0] = rng.normal(size=(episodes, SIZE))
    for t in range(LENGTH):
        noise = rng.normal(size=(episodes, SIZE)).astype(np.float32)
        observation[:, t + 1] = 0.9 * observation[:, t] + 0.1 * push[action[:, t]] + 0.1 * noise
    reward = -np.abs(observation[:, 1:, 0]).ravel()
    step = np.tile(np.arange(LENGTH, dtype=np.int32), episodes)
    last, never = step == LENGTH - 1, np.zeros(len(step), bool)
    columns: Any = (
        observation[:, :-1].reshape(-1, SIZE),
        action.ravel(),
        reward,
        observation[:, 1:].reshape(-1, SIZE),
        last,
        never,
        np.full(len(step), 1.0 / ACTIONS, np.float32),
        step,
    )
    return Log(Spec("made-up", SIZE, ACTIONS), Transition(*columns), np.repeat(np.arange(episodes), LENGTH))


def measured(path: str) -> dict[str, Any]:
    """Seconds of each part, and the peak of this whole process."""
    import offnac

    clock = [time.process_time()]
    log = offnac.read_log(path)
    clock.append(time.process_time())
    offnac.learn(log, out=Path(path).parent / "learned", workers=1)
    clock.append(time.process_time())
    seconds = dict(zip(("read", "learn"), np.diff(clock).tolist(), strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"rows": len(log), "size": SIZE, "actions": ACTIONS, "cpu_seconds": seconds, "peak_gib": peak}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measured(arguments.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        write_log(made_up(arguments.rows), path)
        command = [sys.executable, __file__, "--measure", str(path)]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(found)
    files.write_json(arguments.out, {**found, "versions": versions(), "date": now()})


if __name__ == "__main__":
    main()
