"""Which seeds of Lunar Lander have somebody standing still in the episodes of μ that they record before they
learn off-policy under preset robust. Where nobody does, whoever touches the ground crashes, and nothing tells
the seed how to stand. Adds to ``results/standing.json``; some minutes.
"""

import argparse
import tempfile
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from offnac import environments, files, presets
from offnac.logs.log import Log
from offnac.provenance import now, versions
from offnac.training import lockstep
from offnac.training.progress import silent
from offnac.training.study import recorded, shown

OUT = Path(__file__).parents[1] / "results" / "standing.json"
TASK = "LunarLander-v3"
STILL = 0.05
"""The fastest and the most inclined that stands still, in the task's own units."""


class Recorded(Exception):
    """Enough: all that is to be learned from."""


def record(seed: int) -> Log:
    """What a seed has kept when it begins to learn."""
    task = environments.make(TASK, presets.max_steps(TASK))
    experiment = presets.experiment("robust", "offnac", task.spec)
    kept: list[Log] = []

    def keep(memory: Any, *_: Any) -> None:
        kept.append(recorded(memory, shown(experiment.protocol, task.spec), task.spec))
        raise Recorded

    study, lockstep.study = lockstep.study, keep
    try:
        with tempfile.TemporaryDirectory() as folder:
            lockstep.train_seeds(task, experiment, [seed], Path(folder), 1, silent, Event(), {})
    except Recorded:
        return kept[0]
    finally:
        lockstep.study = study
    raise AssertionError("the preset records nothing before it learns")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first-seed", type=int, default=1000)
    arguments = parser.parse_args()
    found = {one["seed"]: one for one in files.read_json(OUT)["seeds"]} if OUT.exists() else {}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        log = record(seed)
        state = np.asarray(log.rows.observation)
        still = (state[:, 6:] > 0.5).all(axis=1) & (np.abs(state[:, 2:6]) < STILL).all(axis=1)
        ended = int(np.asarray(log.rows.terminated).sum())
        counts = {"episodes": log.episodes, "ended": ended, "rows": len(log), "still": int(still.sum())}
        found[seed] = {"seed": seed, **counts}
        print(found[seed], flush=True)
    seeds = [found[seed] for seed in sorted(found)]
    files.write_json(OUT, {"environment": TASK, "seeds": seeds, "versions": versions(), "date": now()})


if __name__ == "__main__":
    main()
