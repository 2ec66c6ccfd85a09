"""What a reproduction found, from what its runs left on disk: ``summary.json`` and ``curves.parquet``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offnac import api, files
from offnac.evaluation import statistics
from offnac.experiments import curves
from offnac.experiments.cells import CELLS, Cell
from offnac.experiments.jobs import RUNS, Settings, run_name
from offnac.experiments.verdict import reaches, verdict
from offnac.presets import PRESETS
from offnac.provenance import now, versions

SUMMARY = "summary.json"
TIMINGS = "timings.json"
FORMAT = "offnac-reproduction"
NOTES = (
    "test: of the checkpoint with the best running average, as in the paper; off-policy that checkpoint is "
    "chosen by running the learned policy in a simulator",
    "final_test: of the policy after the last training episode, which needs no simulator to be chosen",
    "episodes_to_paper: training episodes until the running average first reaches the paper's mean, as run "
    "and by both definitions; the median counts seeds that never do as infinitely many",
)

PER_SEED = ("best_average", "best_episode", "final_average", "train_steps", "diverged")
"""What is told of every seed beside its tests."""

Entry = dict[str, Any]


class Summary:
    """Grows as runs finish; an entry of a finished run is made once."""

    def __init__(self, out: Path, settings: Settings, wanted: Sequence[str] = ()) -> None:
        self.out, self.settings, self.wanted = out, settings, wanted
        self.entries: dict[str, Entry] = {}
        timings = files.read_json(out / TIMINGS) if (out / TIMINGS).exists() else {}
        self.run_seconds: dict[str, float] = timings.get("runs", {})
        self.seconds: float = timings.get("seconds", 0.0)
        for cell, preset in self._runs():
            self.add(cell, preset)

    def add(self, cell: Cell, preset: str) -> None:
        """Look at a run once more; it counts once all its seeds are finished."""
        name, entry = run_name(cell, preset), read_run(self.out, cell, preset)
        if entry is not None:
            self.entries[name] = entry
        else:
            self.entries.pop(name, None)

    def took(self, name: str, seconds: float) -> None:
        """Note the time of a run; what earlier attempts took is in it as well."""
        self.run_seconds[name] = self.run_seconds.get(name, 0.0) + seconds

    def write(self) -> dict[str, Any]:
        found = self.value()
        files.write_json(self.out / TIMINGS, {"seconds": self.seconds, "runs": self.run_seconds})
        files.write_json(self.out / SUMMARY, found)
        return found

    def write_curves(self) -> None:
        curves.write(self.out / curves.CURVES, self._seed_folders())

    def value(self) -> dict[str, Any]:
        begun = [run_name(cell, preset) for cell, preset in self._runs()]
        unfinished = [name for name in dict.fromkeys([*begun, *self.wanted]) if name not in self.entries]
        return {
            "format": FORMAT,
            "notes": list(NOTES),
            "date": now(),
            "versions": versions(),
            "settings": self.settings.protocol,
            **held(self.entries.values()),
            "seconds": self.seconds,
            "unfinished": unfinished,
            "cells": self._cells(),
            "improvement": improvements(self.entries),
        }

    def _runs(self) -> Iterator[tuple[Cell, str]]:
        """Every run in the folder, begun or finished, in the order of the paper's tables."""
        for cell in CELLS:
            for preset in PRESETS:
                if (self.out / RUNS / run_name(cell, preset) / api.RUN).exists():
                    yield cell, preset

    def _seed_folders(self) -> Iterator[tuple[str, str, dict[int, Path]]]:
        for cell, preset in self._runs():
            name = run_name(cell, preset)
            if name in self.entries:
                folder = self.out / RUNS / name
                yield cell.name, preset, {s: folder / f"seed-{s}" for s in self.entries[name]["seeds"]}

    def _cells(self) -> list[Entry]:
        return in_order(
            {
                name: entry | {"seconds": self.run_seconds.get(name, entry["seconds"])}
                for name, entry in self.entries.items()
            }
        )


def held(entries: Iterable[Entry]) -> dict[str, Any]:
    """The presets and the seeds that entries are of."""
    entries = list(entries)
    return {
        "presets": [preset for preset in PRESETS if any(entry["preset"] == preset for entry in entries)],
        "seeds": sorted({seed for entry in entries for seed in entry["seeds"]}),
    }


def in_order(entries: Mapping[str, Entry]) -> list[Entry]:
    """Entries by the names of their runs, in the order of the paper's tables."""
    names = [run_name(cell, preset) for cell in CELLS for preset in PRESETS]
    return [entries[name] for name in names if name in entries]


def improvements(entries: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """The paper's claim: the natural gradient is better than the plain one."""
    cells = {(cell.environment, cell.lam is not None, cell.algorithm): cell for cell in CELLS}
    found = []
    for (environment, has_lambda, algorithm), natural in cells.items():
        if not algorithm.endswith("nac"):
            continue
        plain = cells[environment, has_lambda, algorithm.removesuffix("nac") + "ac"]
        for preset in PRESETS:
            ours, theirs = (entries.get(run_name(cell, preset)) for cell in (natural, plain))
            # One seed against one other would be sure of anything.
            if ours is None or theirs is None or min(len(ours["seeds"]), len(theirs["seeds"])) < 2:
                continue
            found.append(
                {
                    "environment": environment,
                    "lam": natural.lam,
                    "preset": preset,
                    "pair": f"{algorithm}>{plain.algorithm}",
                    **_improvement(ours, theirs, "test"),
                    "final": _improvement(ours, theirs, "final_test"),
                }
            )
    return found


def _improvement(ours: Entry, theirs: Entry, test: str) -> dict[str, Any]:
    return statistics.probability_of_improvement(ours[test]["values"], theirs[test]["values"])


def read_run(out: Path, cell: Cell, preset: str) -> Entry | None:
    """A run's seeds and their statistics, once all of them are finished."""
    folder = out / RUNS / run_name(cell, preset)
    record = files.read_json(folder / api.RUN) if (folder / api.RUN).exists() else {}
    if "result" not in record:
        return None
    runs = record["result"]["runs"]
    tests = {}
    for test in ("test", "final_test"):
        values = [run[test]["mean"] for run in runs]
        tests[test] = statistics.across_seeds(values) | {
            "values": values,
            "sd_of_episodes": [run[test]["sd"] for run in runs],
        }
    best, final = (verdict(tests[test], cell.mean) for test in ("test", "final_test"))
    return {
        "cell": cell.name,
        "environment": cell.environment,
        "algorithm": cell.algorithm,
        "lam": cell.lam,
        "preset": preset,
        "paper": {"mean": cell.mean, "sd": cell.sd},
        **tests,
        "meets": best.meets,
        "sure": best.sure,
        "verdict": best.words,
        "final_verdict": final.words,
        "episodes_to_paper": _episodes_to(cell.mean, [folder / f"seed-{run['seed']}" for run in runs]),
        "seeds": [run["seed"] for run in runs],
        "per_seed": {name: [run[name] for run in runs] for name in PER_SEED},
        "train_steps": record["result"]["train_steps"],
        "settings": record["settings"],
        "device": record.get("device"),
        "versions": record["versions"],
        "date": record["date"],
        "seconds": record["result"]["seconds"],
    }


def _episodes_to(mean: float, folders: list[Path]) -> dict[str, Any]:
    """As run, and beside it by each definition of the running average."""
    seeds = [curves.of_seed(folder) for folder in folders]
    as_run, printed, published = (
        _summarise_episodes([episodes_to(mean, seed[column]) for seed in seeds])
        for column in ("average", "average_printed", "average_published")
    )
    return as_run | {"printed": printed, "published": published}


def episodes_to(mean: float, average: ArrayLike) -> int | None:
    """How many episodes it takes until an average reaches ``mean``; None where it never does."""
    there = np.flatnonzero(reaches(np.asarray(average, float), mean))
    return int(there[0]) + 1 if there.size else None


def _summarise_episodes(needed: list[int | None]) -> dict[str, Any]:
    """A seed that never gets there counts as infinitely many: no median where half of them never do."""
    median = float(np.median([np.inf if count is None else count for count in needed]))
    return {
        "seeds": needed,
        "median": median if np.isfinite(median) else None,
        "share": sum(count is not None for count in needed) / len(needed),
    }
