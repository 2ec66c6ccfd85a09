"""Seeds spread over cores by threads: a compiled program holds no Python lock."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

import jax

Result = TypeVar("Result")


def run_in_caller() -> None:
    """Programs run in the thread that calls them from now on, not in a queue behind it."""
    jax.config.update("jax_cpu_enable_async_dispatch", False)


def over_threads(
    one: Callable[[int], Result], seeds: Sequence[int], workers: int, stop: Event
) -> list[Result]:
    """The seeds' results, in order; where one fails, the others are asked to stop."""
    run_in_caller()
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        futures = [pool.submit(one, seed) for seed in seeds]
        try:
            # The first to fail says why; the others then only stop.
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()
        except BaseException:
            stop.set()
            raise
        return [future.result() for future in futures]
