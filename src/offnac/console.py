"""What a person sees: progress on standard error, compact tables on standard output."""

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock, current_thread, main_thread
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from offnac.evaluation import statistics
from offnac.experiments.pool import News
from offnac.training.from_log.seeds import LearnUpdate
from offnac.training.progress import Report, Update
from offnac.tuning.progress import TuneUpdate

OUT = Console()
ERR = Console(stderr=True)
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
            progress.update(task, completed=count, rate=f"{unit}, {rate:,.0f}/s")

        yield report


@contextmanager
def waiting(what: str, quiet: bool) -> Iterator[None]:
    """Work that takes a moment and cannot be counted."""
    if quiet or not ERR.is_terminal:
        yield
        return
    with ERR.status(what):
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
                    total=seeds * update.of,
                    completed=sum(one.episodes for one in seen.values()),
                    rate=rate if ERR.width < WIDE else f"{rate}, average return {average:,.1f}",
                )

        yield report, stop


@contextmanager
def learning(seeds: int, quiet: bool) -> Iterator[tuple[Callable[[LearnUpdate], None], Event]]:
    """Progress over all seeds that learn from a log; the first Ctrl-C asks them to stop and save."""
    lock = Lock()
    seen: dict[int, LearnUpdate] = {}
    with _stopping() as stop, _progress(quiet) as progress:
        task = progress.add_task("learning", total=None, rate="")

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

        yield report, stop


@contextmanager
def tuning(quiet: bool) -> Iterator[tuple[Callable[[TuneUpdate], None], Event]]:
    """Progress over all trials of a search, and then over its check; the first Ctrl-C asks it to stop."""
    with _stopping() as stop, _progress(quiet) as progress:
        tasks: dict[str, TaskID] = {}

        def report(update: TuneUpdate) -> None:
            if update.stage not in tasks:
                tasks[update.stage] = progress.add_task(update.stage, rate="")
            best = "" if update.best is None else f", best {_short(update.best)}"
            progress.update(
                tasks[update.stage], total=update.of, completed=update.done, rate=f"{update.unit}{best}"
            )

        yield report, stop


@contextmanager
def reproducing(quiet: bool) -> Iterator[tuple[Callable[[News], None], Event]]:
    """Progress over all runs of a reproduction, with the time left by the work that is done."""
    began = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=12), TextColumn("{task.fields[news]}"))
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
    """An event that Ctrl-C (or a polite kill) sets, so that work can end with everything saved. The second
    one ends the process at once."""
    stop = Event()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def ask(*_: Any) -> None:
        stop.set()
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        if ERR.is_terminal:
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


def show_log(result: dict[str, Any]) -> None:
    _line(
        f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes of {result['behaviour']} "
        f"behaviour in {result['environment']}, mean return {result['mean_return']:.2f}"
    )


def warn(warnings: Iterable[str]) -> None:
    """What a person should know of their data, on standard error."""
    for warning in warnings:
        ERR.print(f"offnac: note: {warning}", highlight=False, markup=False, soft_wrap=True)


def show_conversion(result: dict[str, Any]) -> None:
    _line(f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes ({result['format']})")


def show_audit(result: dict[str, Any]) -> None:
    _line(
        f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes "
        f"({result['terminated']:.0%} end with the task), {result['observation_size']} observations, "
        f"{result['actions']} actions"
    )
    table = _table("an episode's", "mean", "SD", "min", "25%", "median", "75%", "max")
    for name in ("lengths", "returns"):
        numbers = result[name]
        quantiles = (numbers["quantiles"][q] for q in ("0", "0.25", "0.5", "0.75", "1"))
        table.add_row(name[:-1], *map(_short, (numbers["mean"], numbers["sd"], *quantiles)))
    OUT.print(table)
    use = ", ".join(f"{one['name']} {one['share']:.1%}" for one in result["action_use"][:12])
    _line(f"actions taken: {use}{', …' * (len(result['action_use']) > 12)}")
    behaviour = result["behaviour"]
    _line(
        f"behaviour: probabilities {behaviour['source']}, as free as a choice among "
        f"{behaviour['actions_tried']:.1f} actions"
    )
    if result["policy"] is None:
        return
    numbers, support = result["policy"], result["policy"]["support"]
    size, tails = numbers["effective_sample_size"], numbers["tails"]
    table = _table("weights of the policy", "effective share", "99%", "largest", "in the top 1%")
    for name, label in (("rho", "ρ = π/μ"), ("w_rho", "wρ")):
        tail = tails[name]
        shares = f"{size[name]:.1%}", f"{tail['top_percent']:.1%}"
        table.add_row(label, shares[0], f"{tail['p99']:.2f}", f"{tail['largest']:.2f}", shares[1])
    OUT.print(table)
    _line(
        f"effective: {size['rows']:,.0f} rows, {size['episodes']:,.1f} episodes; barely held of the policy's "
        f"weight: {support['states']:.1%} by its states, {support['actions']:.1%} by its actions; later than "
        f"logged episodes last: {support['late']:.1%}"
    )
    _line(f"\nverdict: {result['verdict']}")
    for reason in result["reasons"]:
        _line(f"- {reason}")


def show_ope(result: dict[str, Any]) -> None:
    _line(f"{result['log']}: {result['rows']:,} rows, {result['episodes']:,} episodes")
    table = _table(
        "95% intervals", f"value, γ = {result['gamma']:g}", f"return within {result['max_steps']:,} steps"
    )
    rows = {**result["estimators"], "the behaviour's own": result["behaviour"]}
    for name, row in rows.items():
        mark = "*" if name == result["recommended"] else " "
        both = (map(_short, (one["value"], one["low"], one["high"])) for one in (row, row["undiscounted"]))
        cells = (f"{value} {escape(f'[{low}, {high}]')}" for value, low, high in both)
        table.add_row(f"{mark} {name.replace('_', ' ')}", *cells)
    OUT.print(table)
    _line(
        f"effective: {result['effective_sample_size']:,.0f} rows by wρ, "
        f"{result['effective_episodes']:,.1f} whole episodes by Π ρ"
    )
    _line(f"\n* recommended: {result['recommended'].replace('_', ' ')}, for {result['reason']}")


def show_evaluation(result: dict[str, Any]) -> None:
    quantiles = result["quantiles"]
    _line(f"{result['episodes']:,} episodes of at most {result['max_steps']:,} steps")
    table = _table("mean ± SE", "SD", "min", "25%", "median", "75%", "max")
    table.add_row(
        f"{result['mean']:.2f} ± {result['se']:.2f}",
        f"{result['sd']:.2f}",
        *(_short(quantiles[q]) for q in ("0", "0.25", "0.5", "0.75", "1")),
    )
    OUT.print(table)


def show_export(result: dict[str, Any]) -> None:
    _line(
        f"{result['onnx']}: {result['bytes']:,} bytes, observations of {result['observation_size']} numbers, "
        f"{result['actions']} actions ({result['environment']})"
    )
    _line(
        f"the same as the policy on {result['checked_on']:,} observations, "
        f"up to {result['largest_difference']:.1g} in a probability"
    )


def tell(text: str) -> None:
    """News while work goes on, on standard error."""
    ERR.print(text, highlight=False, markup=False, soft_wrap=True)


def show_doctor(result: dict[str, Any]) -> None:
    _line(", ".join(f"{name} {number}" for name, number in result["versions"].items()))
    _line(f"computes on: {', '.join(result['devices']) or 'nothing'}")
    cache = result["cache"]
    state = f"{cache['programs']:,} files" if cache["writable"] else "cannot be written to"
    _line(f"compiled programs: {cache['folder']} ({state})")
    table = _table("extra", "for", "state")
    for name, extra in result["extras"].items():
        missing = ", ".join(extra["missing"])
        table.add_row(name, extra["for"], escape(f"needs {missing}") if missing else "[green]installed")
    OUT.print(table)
    _line("an extra is installed with pip install 'offnac[NAME]'; no display and no browser are needed")
    for problem in result["problems"]:
        OUT.print(f"[red]problem:[/] {escape(problem)}", highlight=False, soft_wrap=True)
    if not result["problems"]:
        OUT.print("[green]no problems[/]", highlight=False)


def show_report(result: dict[str, Any]) -> None:
    _line(f"{result['report']}: everything of this {result['kind']} folder in one file; open it in a browser")


def show_film(result: dict[str, Any]) -> None:
    end = "the task ended" if result["ended"] else "the time limit came"
    _line(
        f"{result['out']}: an episode of {result['environment']}, return {_short(result['return'])} in "
        f"{result['steps']:,} steps, then {end}"
    )
    if result["policy"] is not None:
        _line(f"the policy is {result['policy']}")


def show_tuning(result: dict[str, Any]) -> None:
    best, first, check = result["best"], result["first"], result["check"]
    failed = f" ({result['failed']} failed)" if result["failed"] else ""
    _line(
        f"{result['algorithm']} on {result['source']}: {result['trials']} trials{failed}, "
        f"{result['seconds']:.0f} s; {result['unit']}"
    )
    table = _table("setting", "as it was", f"best (trial {best['number']})")
    for name, value in best["settings"].items():
        table.add_row(
            name,
            *(
                f"{one:.3g}" if isinstance(one, float) else escape(str(one))
                for one in (first["settings"][name], value)
            ),
        )
    table.add_section()
    table.add_row("value in the search", _short(first["value"]), _short(best["value"]))
    if check is not None:
        seeds = f"{check['first_seed']} to {check['first_seed'] + check['seeds'] - 1}"
        table.add_row(f"on fresh seeds, {seeds}", *(_short(check[one]["value"]) for one in ("first", "best")))
    OUT.print(table)
    _line(
        f"settings in {result['settings']}, for offnac {result['command']} --settings; "
        f"page in {result['page']}"
    )


def show_learning(result: dict[str, Any]) -> None:
    selected = result["selected"]
    _line(
        f"{result['algorithm']} from {result['rows']:,} rows, {result['episodes']:,} episodes "
        f"({result['behaviour']} probabilities), {result['seconds']:.0f} s"
    )
    table = _table("seed", "iteration", "value ± SE", "effective sample", "highest value", "at")
    for run in result["runs"]:
        chosen = run["selected"]
        table.add_row(
            str(run["seed"]),
            f"{chosen['iteration']}/{chosen['of']}",
            f"{_short(chosen['value'])} ± {_short(chosen['standard_error'])}",
            f"{chosen['effective_sample_size']:.0%}",
            _short(chosen["best"]["value"]),
            str(chosen["best"]["iteration"]),
        )
    OUT.print(table)
    _line(f"selected: seed {selected['seed']}, iteration {selected['iteration']}: {selected['reason']}")
    values = result["ope"]
    name = values["recommended"]
    ours, theirs = values["estimators"][name], values["behaviour"]
    _line(
        f"value on the {values['held_out_episodes']:,} held-out episodes, {name.replace('_', ' ')}: "
        f"{_short(ours['value'])} [{_short(ours['low'])}, {_short(ours['high'])}]; "
        f"the behaviour's {_short(theirs['value'])} [{_short(theirs['low'])}, {_short(theirs['high'])}]"
    )
    _line(f"verdict: {result['verdict']}")
    for reason in result["reasons"]:
        _line(f"- {reason}")
    _line(f"policy in {result['policy']}")


def show_training(result: dict[str, Any], out: Path) -> None:
    _line(f"{result['algorithm']} on {result['environment']}, preset {result['preset']}")
    table = _table("seed", "train steps", "best average", "episode", "test of best", "test of final")
    for run in result["runs"]:
        table.add_row(
            str(run["seed"]),
            f"{run['train_steps']:,}",
            _short(run["best_average"]),
            str(run["best_episode"]),
            *(f"{_short(run[test]['mean'])} ± {_short(run[test]['se'])}" for test in ("test", "final_test")),
        )
    OUT.print(table)
    tests = {
        name: [run[test]["mean"] for run in result["runs"]]
        for name, test in (("best checkpoint", "test"), ("final policy", "final_test"))
    }
    # An interval from two seeds would promise what two numbers cannot tell.
    if len(result["runs"]) == 2:
        for name, (one, other) in tests.items():
            _line(f"{name}: {_short(one)} and {_short(other)}")
    elif len(result["runs"]) > 2:
        table = _table("across seeds", "interquartile mean", "median", "best", "worst")
        for name, means in tests.items():
            summary = statistics.across_seeds(means)
            interval = escape(f"[{_short(summary['low'])}, {_short(summary['high'])}]")
            table.add_row(
                name,
                f"{_short(summary['iqm'])} {interval}",
                *(_short(summary[number]) for number in ("median", "best", "worst")),
            )
        OUT.print(table)
    if diverged := [str(run["seed"]) for run in result["runs"] if run.get("diverged")]:
        seeds = ", ".join(diverged)
        warn([f"training diverged for seed {seeds}: θ is no longer finite; try smaller rates"])
    _line(f"policies in {out}/seed-*/best and /final")
    if result["algorithm"].startswith("off"):
        _line(
            "the best checkpoint was chosen by running the learned policy in the simulator; "
            "the final policy needed none"
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


def _line(text: str) -> None:
    """A line as it is: only a terminal may break it, and nothing in it is markup."""
    OUT.print(text, highlight=False, markup=False, soft_wrap=True)


def _table(*names: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in names:
        table.add_column(name, no_wrap=True)
    return table


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"
