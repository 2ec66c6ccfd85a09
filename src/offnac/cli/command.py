"""A command of the command line: how it is declared, and how it answers a wrong call."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from offnac.errors import UserError

Commands = Any
"""What argparse's add_subparsers gives; its type has no public name."""


class Parser(argparse.ArgumentParser):
    """Answers a wrong call with one sentence and status 2."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see '{self.prog} --help'")


def command(
    commands: Commands,
    name: str,
    work: Callable[[argparse.Namespace], dict[str, Any]],
    what: str,
    example: str,
) -> argparse.ArgumentParser:
    """Declare a command: ``work`` takes the parsed arguments and gives what --json prints."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what.replace("%", "%%"),
        description=what[0].upper() + what[1:] + ".",
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(work=work)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    output.add_argument("--quiet", action="store_true", help="no progress")
    return parser
