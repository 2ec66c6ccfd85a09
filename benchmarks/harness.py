"""What the parts of the benchmark share: one core, contenders in turn, a result file that grows row by row.

Imported before JAX: it sees to it that everything runs in one thread, and that compiled programs are kept.
"""

import argparse
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

for _name in ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from offnac import compile_cache, files  # noqa: E402
from offnac.provenance import now, versions  # noqa: E402

compile_cache.enable()

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "bench"
SCRATCH = ROOT / ".cache" / "bench"
"""Logs that are made once and measured often."""
QUIET = 0.5
"""Processes at work, on average over the minute before, from which on a machine counts as shared."""


def _processor_time() -> float:
    """Of this process, and of those begun from here that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


CLOCK = "OFFNAC_BENCH_CLOCK"
CLOCKS = {"wall": time.perf_counter, "cpu": _processor_time}
"""On a machine that others work on too, only the time that a process was given says how fast it is."""

Key = Mapping[str, Any]
Row = dict[str, Any]


def arguments(about: str | None, **numbers: tuple[float, str]) -> argparse.Namespace:
    """The options that all parts have, and the ``numbers`` that one part has besides: default and meaning."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name contains this")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="median of so many (default 3)")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu where the machine is shared")
    parser.add_argument("--again", action="store_true", help="measure rows anew that are there already")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="the folder to write")
    for name, (default, meaning) in numbers.items():
        option, kind = f"--{name.replace('_', '-')}", type(default)
        parser.add_argument(option, type=kind, default=default, metavar="N", help=f"{meaning} ({default:g})")
    given = parser.parse_args()
    os.environ[CLOCK] = given.clock
    return given


def clock() -> float:
    """Seconds by the clock that was asked for, here and in the processes begun from here."""
    return CLOCKS[os.environ.get(CLOCK, "wall")]()


def one_core() -> None:
    """Keep this process, and those that it begins, to one core; programs run in the calling thread."""
    # By the CPU's time it does not matter which core it is, and on a busy machine one core is a long wait.
    if hasattr(os, "sched_setaffinity") and os.environ.get(CLOCK) != "cpu":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import jax

    jax.config.update("jax_cpu_enable_async_dispatch", False)


def in_turn(
    contenders: Mapping[str, Callable[[], float | None]], repeats: int, warm_up: bool = True
) -> dict[str, list[float]]:
    """What each contender measures: once to warm up, not counted, then all in turn, ``repeats`` times.

    One after the other in every round, so that whatever slows the machine down for a while slows all of them.
    A contender that measures None is not there, and is left out.
    """
    found: dict[str, list[float]] = {}
    present = dict(contenders)
    for round_ in range(repeats + warm_up):
        for name, measure in list(present.items()):
            number = measure()
            if number is None:
                del present[name]
            elif round_ >= warm_up:
                found.setdefault(name, []).append(number)
    return found


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = clock()
    work()
    return clock() - began


def spread(numbers: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(numbers), "lowest": min(numbers), "highest": max(numbers)}


def ratio(numbers: Sequence[float], others: Sequence[float]) -> float:
    """The median over rounds of one contender's number by another's of the same round."""
    return statistics.median(one / other for one, other in zip(numbers, others, strict=True))


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """p of cost ∝ sizeᵖ, by least squares of the logarithms."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def machine() -> dict[str, Any]:
    found: dict[str, Any] = {"processor": platform.machine(), "cores": os.cpu_count(), "cores_used": 1}
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found["model"] = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return found


def shared(rows: Sequence[Row]) -> str:
    """How much of this was measured on a machine that others worked on too, in words."""
    busy, cpu = (
        sum(row.get(name) == value for row in rows) for name, value in (("shared", True), ("clock", "cpu"))
    )
    said = f"{busy} of {len(rows)} rows were measured while other work ran on the machine"
    if cpu:
        said += f", {cpu} of them in seconds of the CPU's time instead of the wall's"
    if busy:
        said += "; that slows contenders down unequally, so their ratios are rough"
    return said


class Results:
    """A part's rows, each written once it is measured; one that is there already is not measured again."""

    def __init__(self, part: str, title: str, about: str, given: argparse.Namespace) -> None:
        self.path: Path = given.out / f"{part}.json"
        self.only, self.again, self.clock = given.only, given.again, given.clock
        self.head = {"part": part, "title": title, "about": about, "machine": machine()}
        self.rows: list[Row] = files.read_json(self.path)["rows"] if self.path.exists() else []
        self.peers: dict[str, str] = {}

    def measure(self, key: Key, measure: Callable[[], Row]) -> Row | None:
        """The row of this key: measured now, or before; None where ``--only`` leaves it out."""
        name = " ".join(str(part) for part in key.values())
        known = next((row for row in self.rows if all(row.get(field) == key[field] for field in key)), None)
        if self.only not in name:
            return known
        if known is not None and not self.again:
            return known
        busy = os.getloadavg()[0]
        measured = measure()
        told = {"clock": self.clock, "date": now(), "busy_before": round(busy, 2), "shared": busy > QUIET}
        row = {**key, **measured, **told}
        self.rows = [*(one for one in self.rows if one is not known), row]
        print(f"{self.head['part']}: {name} measured", flush=True)
        return row

    def write(self, columns: Sequence[str], cells: Callable[[Row], Sequence[str]], **more: Any) -> None:
        """All rows so far, and the table that shows each of them in a line."""
        self.write_table(columns, [list(cells(row)) for row in self.rows], **more)

    def write_table(self, columns: Sequence[str], lines: Sequence[Sequence[str]], **more: Any) -> None:
        record = {
            **self.head,
            "shared": shared(self.rows),
            "versions": versions(),
            "peers": self.peers,
            "date": now(),
            **more,
            "rows": self.rows,
            "table": {"columns": list(columns), "rows": lines},
        }
        files.write_json(self.path, record)
