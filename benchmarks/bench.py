"""Every part of the benchmark in turn, each in a process of its own, and the tables of all of them.

    make bench                                    every part in small: about an hour on one core
    make bench ARGS="online --only CartPole"      one part, some of its rows
    make bench ARGS="show"                        the tables of what was measured before

Stopped or killed, the same command goes on: what is in results/bench is measured again only with --again.
"""

import subprocess
import sys
from pathlib import Path

import harness
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from offnac import files

PARTS = ("startup", "floor", "speed", "online", "goals", "estimators", "growth", "cores", "log_learners")
ON_REQUEST = ("gpu", "gpu_same")
"""The former needs a GPU."""
HERE = Path(__file__).parent


def show(folder: Path = harness.RESULTS) -> None:
    """The tables of all parts measured so far."""
    console = Console()
    for path in sorted(folder.glob("*.json")):
        result = files.read_json(path)
        if "table" not in result:
            continue
        table = Table(
            *result["table"]["columns"], box=SIMPLE_HEAD, title=result["title"], title_justify="left"
        )
        for row in result["table"]["rows"]:
            table.add_row(*row)
        console.print(table)


def main(words: list[str]) -> int:
    if words and words[0] in ("-h", "--help"):
        print(__doc__, "\nParts: ", ", ".join(PARTS), "; on request: ", ", ".join(ON_REQUEST), sep="")
        return 0
    parts = [words[0]] if words and not words[0].startswith("-") else list(PARTS)
    if unknown := [part for part in parts if part not in (*PARTS, *ON_REQUEST, "show")]:
        known = ", ".join((*PARTS, *ON_REQUEST))
        print(f"there is no part {unknown[0]}; choose one of {known}, or show", file=sys.stderr)
        return 2
    options = words[1:] if parts == words[:1] else words
    failed = []
    for part in parts:
        if part == "show":
            continue
        if subprocess.run([sys.executable, str(HERE / f"{part}.py"), *options]).returncode:
            failed.append(part)
        if options and options[0] in ("-h", "--help"):
            return 0
    show()
    if failed:
        print(f"these parts failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
