"""What a log of uniform behaviour tells about touching down in Lunar Lander: how many of its rows touch the
ground nearly upright, by vertical speed, on the pad and beside it, and in how many of these the task ended at
once. Writes ``results/touching.json``; a minute.
"""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from learn import RESULTS, TASKS

import offnac
from offnac import files
from offnac.provenance import now, versions

SEED = 200
SPEEDS = (0.0, 0.1, 0.2, 0.4, np.inf)
PAD, UPRIGHT = 0.2, 0.3
"""Half the pad's width, and an angle, in the task's own units."""


def main() -> None:
    task = TASKS["lunar-lander"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        offnac.collect(task.environment, steps=task.rows, out=path, first_seed=SEED)
        log = offnac.read_log(path)
    state, ended = np.asarray(log.rows.observation), np.asarray(log.rows.terminated)
    touches = (state[:, 6:] > 0).any(axis=1) & (np.abs(state[:, 4]) < UPRIGHT)
    on_pad, speed = np.abs(state[:, 0]) < PAD, np.abs(state[:, 3])
    found = []
    for low, high in pairwise(SPEEDS):
        for place, there in (("on the pad", on_pad), ("beside it", ~on_pad)):
            rows = touches & there & (speed >= low) & (speed < high)
            found.append(
                {
                    "speed": [low, None if np.isinf(high) else high],
                    "place": place,
                    "rows": int(rows.sum()),
                    "episodes": len(np.unique(log.episode[rows])),
                    "ended": int(ended[rows].sum()),
                }
            )
            print(found[-1])
    record = {"environment": task.environment, "rows": len(log), "episodes": log.episodes, "seed": SEED}
    files.write_json(
        RESULTS.parent / "touching.json", record | {"touches": found, "versions": versions(), "date": now()}
    )


if __name__ == "__main__":
    main()
