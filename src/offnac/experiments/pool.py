"""Jobs over cores: each in a process of its own, so that programs do not fight over threads and one that
fails takes no other with it. Where there is a GPU, jobs of JAX-native tasks share it, all seeds of a job in
one program.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

from offnac.experiments.jobs import RUNS, Job, at_once_on_gpu, cores_of_each
from offnac.processes import Pipes

THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What XLA's and the linear algebra's thread pools read."""


class News(NamedTuple):
    """Where a reproduction stands."""

    finished: int
    of: int
    share: float
    """Of all the work that is done, jobs weighed by what they cost."""
    new: float
    """The part of it that was done in this attempt: what the time left can be told from."""
    running: tuple[str, ...]


Report = Callable[[News], None]


def silent(news: News) -> None:
    """Report to nobody."""


def sees_gpu() -> bool:
    """Whether JAX sees a GPU; asked in another process, because one that has looked keeps hold of it."""
    if not Path("/dev/nvidiactl").exists():
        return False
    question = "import jax; print(jax.default_backend())"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=False)
    return answer.stdout.strip() == "gpu"


class Outcome(NamedTuple):
    """How a job ended. ``complaint`` is empty unless it failed."""

    job: Job
    stopped: bool
    seconds: float
    complaint: str = ""


def run(
    jobs: Sequence[Job],
    out: Path,
    *,
    workers: int | None = None,
    gpu: bool = False,
    finished: int = 0,
    report: Report = silent,
    stop: Event,
    ended: Callable[[Outcome], None],
) -> None:
    """Do the jobs in their order, several at once; tell ``ended`` of each from this thread. ``gpu`` says
    that there is one to use, ``finished`` counts jobs that were done before."""
    at_once, cores = cores_of_each(workers, len(jobs))
    shared = at_once_on_gpu(jobs, at_once) if gpu else 0
    board = _Board(jobs, finished, report)
    pipes = Pipes()
    with (
        ThreadPoolExecutor(max_workers=max(1, shared)) as device,
        ThreadPoolExecutor(max_workers=max(1, at_once - shared)) as host,
    ):
        pending = {
            (device if gpu and job.native else host).submit(_do, job, out, cores, gpu, board, pipes, stop)
            for job in jobs
        }
        try:
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                if stop.is_set():
                    pipes.close()
                for future in done:
                    ended(future.result())
        except BaseException:
            stop.set()
            pipes.close()
            raise


def _do(job: Job, out: Path, cores: int, gpu: bool, board: "_Board", pipes: Pipes, stop: Event) -> Outcome:
    if stop.is_set():
        return Outcome(job, True, 0.0)
    began = time.perf_counter()
    folder = out / RUNS / job.name
    command = [sys.executable, "-m", "offnac.experiments.job", str(folder), json.dumps(job.request(cores))]
    # Many processes share the GPU, so none may take all of its memory.
    place = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if gpu and job.native else {"JAX_PLATFORMS": "cpu"}
    environment = {**os.environ, **place, **dict.fromkeys(THREADS, str(cores))}
    with pipes.begun(command, environment) as (process, errors):
        board.begin(job)
        assert process.stdout is not None
        for line in process.stdout:
            seed, episodes = line.split()
            board.update(job, int(seed), int(episodes))
        status = process.wait()
        errors.seek(0)
        complaint = errors.read().strip()
    board.end(job, complete=status == 0)
    stopped = status != 0 and stop.is_set()
    if status != 0 and not stopped and not complaint:
        complaint = f"the process ended with status {status}"
    return Outcome(job, stopped, time.perf_counter() - began, "" if status == 0 or stopped else complaint)


class _Board:
    """Adds up what the jobs at work report."""

    def __init__(self, jobs: Sequence[Job], finished: int, report: Report) -> None:
        self.report, self.lock = report, Lock()
        self.finished, self.of = finished, finished + len(jobs)
        self.cost = {job.name: job.cost for job in jobs}
        self.episodes = {job.name: job.episodes for job in jobs}
        self.first: dict[str, dict[int, int]] = {job.name: {} for job in jobs}
        self.last: dict[str, dict[int, int]] = {job.name: {} for job in jobs}
        self.running: dict[str, None] = {}

    def begin(self, job: Job) -> None:
        with self.lock:
            self.running[job.name] = None
            self._tell()

    def update(self, job: Job, seed: int, episodes: int) -> None:
        with self.lock:
            self.first[job.name].setdefault(seed, episodes)
            self.last[job.name][seed] = episodes
            self._tell()

    def end(self, job: Job, complete: bool) -> None:
        with self.lock:
            self.running.pop(job.name, None)
            self.finished += complete
            self._tell()

    def _tell(self) -> None:
        share, before = self._share(self.last), self._share(self.first)
        self.report(News(self.finished, self.of, share, share - before, tuple(self.running)))

    def _share(self, episodes: dict[str, dict[int, int]]) -> float:
        done = sum(
            cost * sum(episodes[name].values()) / self.episodes[name] for name, cost in self.cost.items()
        )
        return done / sum(self.cost.values())
