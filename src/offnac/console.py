"""What a person sees: progress on standard error, compact tables on standard output."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from offnac.evaluation import statistics
from offnac.experiments.pool import News
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
                rate = steps / (time.perf_counter() - began)
                progress.update(
                    task,
                    total=seeds * update.of,
                    completed=sum(one.episodes for one in seen.values()),
                    rate=f"episodes, {rate:,.0f} steps/s, average return {average:,.1f},",
                )

        yield report, stop


@contextmanager
def reproducing(quiet: bool) -> Iterator[tuple[Callable[[News], None], Event]]:
    """Progress over all runs of a reproduction, with the time left by the work that is done."""
    began = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[news]}"))
    disable = quiet or not ERR.is_terminal
    with _stopping() as stop, Progress(*columns, console=ERR, transient=True, disable=disable) as progress:
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
    """An event that Ctrl-C sets, so that work can end with everything saved."""
    stop = Event()
    # From a script without a terminal's signals (a thread, say) there is nothing to listen to.
    try:
        before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    except ValueError:
        before = None
    try:
        yield stop
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


def show_reproduction(summary: dict[str, Any], out: Path) -> None:
    names = ("cell and settings", "best checkpoint", "worst", "final", "verdict")
    table = Table(*names, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    before = None
    for cell in summary["cells"]:
        if cell["cell"] != before:
            if before is not None:
                table.add_section()
            table.add_row(cell["cell"], f"the paper: {cell['paper']['mean']:.2f} ± {cell['paper']['sd']:.2f}")
        before = cell["cell"]
        test = cell["test"]
        interval = escape(f"[{_short(test['low'])}, {_short(test['high'])}]")
        table.add_row(
            f"  {cell['preset']}",
            f"{_short(test['iqm'])} {interval}",
            _short(test["worst"]),
            _short(cell["final_test"]["iqm"]),
            ("meets" if cell["meets"] else "below") + ("" if cell["sure"] else "?"),
        )
    OUT.print(table)
    for row in summary["improvement"]:
        task = row["environment"] + ("" if row["lam"] is None else ", TD(λ)")
        interval = escape(f"[{row['low']:.2f}, {row['high']:.2f}]")
        OUT.print(
            f"{task}, preset {row['preset']}: P({row['pair']}) = {row['probability']:.2f} {interval}",
            highlight=False,
        )
    OUT.print(
        "ours: interquartile mean over seeds of the test return, with its 95% interval; the verdict is on "
        "the best checkpoint (off-policy it is chosen by running the learned policy in the simulator), with "
        f"a question mark where the interval is of two minds\neverything is in {out}",
        highlight=False,
        soft_wrap=True,
    )


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"
