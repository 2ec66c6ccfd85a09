"""A word or two about what was made: a film, a page, a file; and what is installed."""

from typing import Any

from rich.markup import escape

from offnac.console import screen
from offnac.console.screen import line, new_table, short


def show_film(result: dict[str, Any]) -> None:
    end = "the task ended" if result["ended"] else "the time limit came"
    line(
        f"{result['out']}: an episode of {result['environment']}, return {short(result['return'])} in "
        f"{result['steps']:,} steps, then {end}"
    )
    if result["policy"] is not None:
        line(f"the policy is {result['policy']}")


def show_export(result: dict[str, Any]) -> None:
    line(
        f"{result['onnx']}: {result['bytes']:,} bytes, observations of {result['observation_size']} numbers, "
        f"{result['actions']} actions ({result['environment']})"
    )
    line(
        f"the same as the policy on {result['checked_on']:,} observations, "
        f"up to {result['largest_difference']:.1g} in a probability"
    )


def show_report(result: dict[str, Any]) -> None:
    line(f"{result['report']}: everything of this {result['kind']} folder in one file; open it in a browser")


def show_doctor(result: dict[str, Any]) -> None:
    line(", ".join(f"{name} {number}" for name, number in result["versions"].items()))
    line(f"computes on: {', '.join(result['devices']) or 'nothing'}")
    cache = result["cache"]
    state = f"{cache['programs']:,} files" if cache["writable"] else "cannot be written to"
    line(f"compiled programs: {cache['folder']} ({state})")
    table = new_table("extra", "for", "state")
    for name, extra in result["extras"].items():
        missing = ", ".join(extra["missing"])
        table.add_row(name, extra["for"], escape(f"needs {missing}") if missing else "[green]installed")
    screen.OUT.print(table)
    line("an extra is installed with pip install 'offnac[NAME]'; no display and no browser are needed")
    for problem in result["problems"]:
        screen.OUT.print(f"[red]problem:[/] {escape(problem)}", highlight=False, soft_wrap=True)
    if not result["problems"]:
        screen.OUT.print("[green]no problems[/]", highlight=False)
