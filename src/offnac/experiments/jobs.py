"""What a reproduction has to do: one training run for each cell and preset, the longest first."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from offnac import api, files, presets
from offnac.environments import gymnax
from offnac.errors import UserError
from offnac.experiments.cells import Cell
from offnac.transition import Spec

RUNS = "runs"


@dataclass(frozen=True)
class Settings:
    """What all runs of a reproduction share. None: as the preset has it."""

    seeds: int = 16
    first_seed: int = 1000
    test_episodes: int = 1000
    episodes: int | None = None
    newest: float | None = None

    def require_sound(self) -> None:
        if self.seeds < 1:
            raise UserError(f"at least one seed is needed, but --seeds is {self.seeds}")
        if not 0 <= self.first_seed <= 2**31 - self.seeds:
            raise UserError(
                f"seeds are whole numbers from 0 to 2147483647, but --first-seed is {self.first_seed}"
            )
        if self.test_episodes < 1:
            raise UserError(
                f"at least one test episode is needed, but --test-episodes is {self.test_episodes}"
            )

    @property
    def protocol(self) -> dict[str, Any]:
        """What must stay the same when a reproduction goes on; cells, presets and seeds may be added."""
        return {name: value for name, value in asdict(self).items() if name not in ("seeds", "first_seed")}


@dataclass(frozen=True)
class Job:
    """One training run: all seeds of a cell under a preset."""

    cell: Cell
    preset: str
    settings: Settings

    @property
    def name(self) -> str:
        return run_name(self.cell, self.preset)

    @property
    def native(self) -> bool:
        """Whether JAX steps the task, so that a GPU can."""
        return self.cell.environment in gymnax.names()

    @property
    def episodes(self) -> int:
        """Training episodes over all seeds; asking for them checks the numbers of the request."""
        experiment = presets.experiment(
            self.preset,
            self.cell.algorithm,
            Spec(self.cell.environment, 1, 2),
            lam=self.cell.lam or 0.0,
            episodes=self.settings.episodes,
            newest=self.settings.newest,
        )
        return self.settings.seeds * experiment.episodes

    @property
    def cost(self) -> float:
        """Seconds that it may take on one core, to tell long jobs from short ones."""
        algorithm = "off-policy" if self.cell.algorithm.startswith("off") else "on-policy"
        return START + self.episodes * SECONDS_PER_EPISODE[self.cell.environment][algorithm]

    def request(self, cores: int) -> dict[str, Any]:
        """The arguments of :func:`offnac.api.train`."""
        return {
            "environment": self.cell.environment,
            "algorithm": self.cell.algorithm,
            "preset": self.preset,
            "lam": self.cell.lam,
            "workers": cores,
            **asdict(self.settings),
        }

    def is_finished(self, out: Path) -> bool:
        path = out / RUNS / self.name / api.RUN
        if not path.exists():
            return False
        record = files.read_json(path)
        first, seeds = self.settings.first_seed, self.settings.seeds
        found = {run["seed"] for run in record.get("result", {}).get("runs", ())}
        return found.issuperset(range(first, first + seeds))


START = 10.0
"""Seconds until a process has JAX imported and its programs compiled."""

SECONDS_PER_EPISODE = {
    "CartPole-v1": {"on-policy": 0.004, "off-policy": 0.002},
    "Acrobot-v1": {"on-policy": 0.002, "off-policy": 0.01},
    "MountainCar-v0": {"on-policy": 0.03, "off-policy": 0.25},
    "LunarLander-v3": {"on-policy": 0.1, "off-policy": 0.1},
}
"""Rough, of one seed on one core. Off-policy the uniform behaviour drives Mountain Car to its limit of
10 000 steps in most episodes."""


GPU_JOBS = 6
GPU_SEEDS = 64 * GPU_JOBS
"""What shares a GPU of 139 GiB: of 64 seeds each 7 jobs fitted, 16 did not; one is left in reserve."""


def run_name(cell: Cell, preset: str) -> str:
    return f"{cell.name}-{preset}"


def plan(cells: Sequence[Cell], names: Sequence[str], settings: Settings) -> list[Job]:
    """Longest first: a long job that begins last would leave the other cores idle."""
    settings.require_sound()
    jobs = [Job(cell, preset, settings) for cell in cells for preset in names]
    return sorted(jobs, key=lambda job: job.cost, reverse=True)


def cores_of_each(workers: int | None, jobs: int) -> tuple[int, int]:
    """How many jobs run at once, and on how many cores each."""
    if workers is not None and workers < 1:
        raise UserError(f"at least one core is needed, but --workers is {workers}")
    workers = workers or os.cpu_count() or 1
    at_once = max(1, min(workers, jobs))
    return at_once, workers // at_once


def at_once_on_gpu(jobs: Sequence[Job], at_once: int) -> int:
    """How many of the JAX-native jobs share the GPU: its memory is bounded, and what does not fit fails."""
    native = [job for job in jobs if job.native]
    if not native:
        return 0
    seeds = max(job.settings.seeds for job in native)
    return max(1, min(GPU_JOBS, GPU_SEEDS // seeds, len(native), at_once))
