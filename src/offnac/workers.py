"""Seeds trained side by side in processes (:mod:`offnac.worker`).

Threads would share two things: Python's lock, which host simulators hold, and XLA's pool of threads, where
the steps of small programs that run at the same time wait for each other.
"""

import json
import os
import signal
import sys
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any

from offnac.errors import Stopped, UserError
from offnac.processes import Pipes
from offnac.training.progress import Report, Update
from offnac.training.seed_folder import SeedFolder


def train_in_processes(
    out: Path, groups: list[list[int]], report: Report, stop: Event, threads: int | None = None
) -> list[dict[str, Any]]:
    """A process for each group. JAX-native ones may share seeds: each is trained by one process. ``threads``
    is the size of XLA's pool in each, where that changes no result."""
    pipes = Pipes()
    environment = {**({} if threads is None else {"NPROC": str(threads)}), **os.environ}

    def one(group: list[int]) -> None:
        command = [sys.executable, "-m", "offnac.worker", str(out), *map(str, group)]
        with pipes.begun(command, environment) as (process, errors):
            assert process.stdout is not None
            for line in process.stdout:
                report(Update(*json.loads(line)))
            process.wait()
            errors.seek(0)
            complaint = errors.read()
        if process.returncode == 2:
            raise UserError(complaint.strip().splitlines()[-1])
        if stop.is_set():
            raise Stopped
        if process.returncode == -signal.SIGKILL:
            raise UserError(
                f"the process that trained the seeds {group} was killed, perhaps for want of memory; "
                "go on with --resume, and fewer --workers if it happens again"
            )
        if process.returncode != 0:
            raise RuntimeError(f"training the seeds {group} failed:\n{complaint}")

    with ThreadPoolExecutor(max_workers=len(groups)) as pool:
        pending = {pool.submit(one, group) for group in groups}
        try:
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                if stop.is_set():
                    pipes.close()
                for future in done:
                    future.result()
        except BaseException:
            stop.set()
            pipes.close()
            raise
    seeds = dict.fromkeys(seed for group in groups for seed in group)
    results = [SeedFolder(out, seed).result() for seed in seeds]
    return [result for result in results if result is not None]
