"""Progress on standard error: how far, how fast, how long still; and Ctrl-C that asks to stop and save."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Lock, current_thread, main_thread
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from offnac.console import screen
from offnac.console.screen import short
from offnac.experiments.pool import News
from offnac.training.from_log.seeds import LearnUpdate
from offnac.training.progress import Report, Update
from offnac.tuning.progress import TuneUpdate

WIDE = 100
"""Columns from which on a line of progress has room for more than the rate and the time left."""


def _progress(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        # Narrow, so that 80 columns have room for the time left.
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=screen.ERR,
        transient=True,
        disable=quiet or not screen.ERR.is_terminal,
    )


@contextmanager
def counting(what: str, unit: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Progress of work that counts its ``unit``s."""
    began = time.perf_counter()
    with _progress(quiet) as progress:
        task = progress.add_task(what, total=total, rate="")

        def report(count: int) -> None:
            rate = count / (time.perf_counter() - began)
            progress.update(task, completed=count, rate=f"{unit}, {rate:,.0f}/s")

        yield report


@contextmanager
def waiting(what: str, quiet: bool) -> Iterator[None]:
    """Work that takes a moment and cannot be counted."""
    if quiet or not screen.ERR.is_terminal:
        yield
        return
    with screen.ERR.status(what):
        yield


@contextmanager
def training(seeds: int, quiet: bool) -> Iterator[tuple[Report, Event]]:
    """Progress over all seeds; the first Ctrl-C asks training to stop and save."""
    lock = Lock()
    seen: dict[int, Update] = {}
    first: dict[int, Update] = {}
    began = time.perf_counter()
    with _stopping() as stop, _progress(quiet) as progress:
        task = progress.add_task("training", total=None, rate="")

        def report(update: Update) -> None:
            with lock:
                first.setdefault(update.seed, update)
                seen[update.seed] = update
                steps = sum(seen[seed].steps - first[seed].steps for seed in seen)
                average = sum(one.average for one in seen.values()) / len(seen)
                rate = f"episodes, {steps / (time.perf_counter() - began):,.0f} steps/s"
                progress.update(
                    task,
                    description=update.doing or "training",
                    total=seeds * update.of,
                    completed=sum(one.episodes for one in seen.values()),
                    rate=rate if screen.ERR.width < WIDE else f"{rate}, average return {average:,.1f}",
                )

        yield report, stop


@contextmanager
def learning(
    seeds: int, quiet: bool
) -> Iterator[tuple[Callable[[LearnUpdate], None], Callable[[str, int, int], None], Event]]:
    """Progress over the fit of a model, and then over all seeds that learn from a log; the first Ctrl-C asks
    them to stop and save."""
    lock = Lock()
    seen: dict[int, LearnUpdate] = {}
    with _stopping() as stop, _progress(quiet) as progress:
        task = progress.add_task("learning", total=None, rate="")

        def fitted(what: str, done: int, of: int) -> None:
            with lock:
                progress.update(task, description=what, total=of, completed=done, rate="steps")
                if done == of:
                    progress.reset(task, total=None, description="learning", rate="")

        def report(update: LearnUpdate) -> None:
            with lock:
                seen[update.seed] = update
                value, entropy, size = (
                    sum(getattr(one, name) for one in seen.values()) / len(seen)
                    for name in ("value", "entropy", "effective_sample_size")
                )
                progress.update(
                    task,
                    total=seeds * update.of,
                    completed=sum(one.iterations for one in seen.values()),
                    rate=f"value {value:,.1f}, entropy {entropy:.0%}, sample {size:.0%}",
                )

        yield report, fitted, stop


@contextmanager
def tuning(quiet: bool) -> Iterator[tuple[Callable[[TuneUpdate], None], Event]]:
    """Progress over all trials of a search, and then over its check; the first Ctrl-C asks it to stop."""
    with _stopping() as stop, _progress(quiet) as progress:
        tasks: dict[str, TaskID] = {}

        def report(update: TuneUpdate) -> None:
            if update.stage not in tasks:
                tasks[update.stage] = progress.add_task(update.stage, rate="")
            best = "" if update.best is None else f", best {short(update.best)}"
            progress.update(
                tasks[update.stage], total=update.of, completed=update.done, rate=f"{update.unit}{best}"
            )

        yield report, stop


@contextmanager
def reproducing(quiet: bool) -> Iterator[tuple[Callable[[News], None], Event]]:
    """Progress over all runs of a reproduction, with the time left by the work that is done."""
    began = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=12), TextColumn("{task.fields[news]}"))
    disable = quiet or not screen.ERR.is_terminal
    with (
        _stopping() as stop,
        Progress(*columns, console=screen.ERR, transient=True, disable=disable) as progress,
    ):
        task = progress.add_task("reproducing", total=1.0, news="")

        def report(news: News) -> None:
            left = "time left unknown"
            if news.new > 0.0:
                seconds = (time.perf_counter() - began) * (1.0 - news.share) / news.new
                left = f"time left {timedelta(seconds=round(seconds))}"
            text = f"{news.finished}/{news.of} runs, {left}, at {', '.join(news.running)}"
            progress.update(task, completed=news.share, news=text)

        yield report, stop


@contextmanager
def _stopping() -> Iterator[Event]:
    """An event that Ctrl-C (or a polite kill) sets, so that work can end with everything saved. The second
    one ends the process at once."""
    stop = Event()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def ask(*_: Any) -> None:
        stop.set()
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        if screen.ERR.is_terminal:
            # The progress hid the cursor, and after a second Ctrl-C nobody would bring it back.
            os.write(2, b"\x1b[?25h")

    before = [signal.getsignal(number) for number in numbers]
    # In a thread of a script there are no signals to listen to.
    if listening := current_thread() is main_thread():
        for number in numbers:
            signal.signal(number, ask)
    try:
        yield stop
    finally:
        if listening:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler or signal.SIG_DFL)
