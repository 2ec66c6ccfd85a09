"""offnac doctor: is everything here?"""

import argparse
from typing import Any

from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    command(
        commands,
        "doctor",
        run,
        "say what is installed, what JAX computes on, and what is missing for which extra",
        "offnac doctor",
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.installation import doctor

    result = doctor()
    if not arguments.json:
        console.show_doctor(result)
    return result
