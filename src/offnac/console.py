"""What a person sees: progress on standard error, compact tables on standard output."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from offnac.evaluation import statistics
from offnac.training.progress import Report, Update

OUT = Console()
ERR = Console(stderr=True)


def _progress(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=ERR,
        transient=True,
        disable=quiet or not ERR.is_terminal,
    )


@contextmanager
def counting(what: str, unit: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Progress of work that counts its ``unit``s."""
    began = time.perf_counter()
    with _progress(quiet) as progress:
        task = progress.add_task(what, total=total, rate="")

        def report(count: int) -> None:
            rate = count / (time.perf_counter() - began)
            progress.update(task, completed=count, rate=f"{rate:,.0f} {unit}/s")

        yield report


@contextmanager
def training(seeds: int, quiet: bool) -> Iterator[tuple[Report, Event]]:
    """Progress over all seeds; the first Ctrl-C asks training to stop and save."""
    stop, lock = Event(), Lock()
    seen: dict[int, Update] = {}
    first: dict[int, Update] = {}
    began = time.perf_counter()
    # From a script without a terminal's signals (a thread, say) there is nothing to listen to.
    try:
        before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    except ValueError:
        before = None
    with _progress(quiet) as progress:
        task = progress.add_task("training", total=None, rate="")

        def report(update: Update) -> None:
            with lock:
                first.setdefault(update.seed, update)
                seen[update.seed] = update
                steps = sum(seen[seed].steps - first[seed].steps for seed in seen)
                average = sum(one.average for one in seen.values()) / len(seen)
                rate = steps / (time.perf_counter() - began)
                progress.update(
                    task,
                    total=seeds * update.of,
                    completed=sum(one.episodes for one in seen.values()),
                    rate=f"episodes, {rate:,.0f} steps/s, average return {average:,.1f},",
                )

        try:
            yield report, stop
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)


def show_log(result: dict[str, Any]) -> None:
    OUT.print(
        f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes of {result['behaviour']} "
        f"behaviour in {result['environment']}, mean return {result['mean_return']:.2f}",
        highlight=False,
        soft_wrap=True,
    )


def show_evaluation(result: dict[str, Any]) -> None:
    quantiles = result["quantiles"]
    table = Table("mean", "± SE", "SD", "min", "25%", "median", "75%", "max", "episodes")
    table.add_row(
        f"{result['mean']:.2f}",
        f"{result['se']:.2f}",
        f"{result['sd']:.2f}",
        *(f"{quantiles[q]:.1f}" for q in ("0", "0.25", "0.5", "0.75", "1")),
        f"{result['episodes']:,}",
    )
    OUT.print(table)


def show_training(result: dict[str, Any], out: Path) -> None:
    table = Table(
        *("seed", "train steps", "best average", "at episode", "test of best", "test of final"),
        title=f"{result['algorithm']} on {result['environment']}, preset {result['preset']}",
        title_justify="left",
    )
    for run in result["runs"]:
        table.add_row(
            str(run["seed"]),
            f"{run['train_steps']:,}",
            f"{run['best_average']:.1f}",
            str(run["best_episode"]),
            *(f"{run[test]['mean']:.1f} ± {run[test]['se']:.1f}" for test in ("test", "final_test")),
        )
    OUT.print(table)
    if len(result["runs"]) > 1:
        for name, test in (("best checkpoint", "test"), ("final policy", "final_test")):
            summary = statistics.across_seeds([run[test]["mean"] for run in result["runs"]])
            OUT.print(
                f"{name}: interquartile mean {summary['iqm']:.1f} "
                f"[{summary['low']:.1f}, {summary['high']:.1f}], "
                f"median {summary['median']:.1f}, best {summary['best']:.1f}, worst {summary['worst']:.1f}",
                highlight=False,
            )
    OUT.print(f"policies in {out}/seed-*/best and /final", highlight=False, soft_wrap=True)
    if result["algorithm"].startswith("off"):
        OUT.print(
            "the best checkpoint was chosen by running the learned policy in the simulator; "
            "the final policy needed none",
            highlight=False,
            soft_wrap=True,
        )
