"""A command of the command line: how it is declared, and how it answers a wrong call."""

import argparse
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from offnac.errors import UserError
from offnac.suggestions import did_you_mean

Commands = Any
"""What argparse's add_subparsers gives; its type has no public name."""

OUTPUT = "output"
KINDS = {"int": "a whole number", "float": "a number"}


class Parser(argparse.ArgumentParser):
    """Answers a wrong call with one sentence and status 2."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(
            r"invalid (int|float) value: ('.*')",
            lambda found: f"{KINDS[found[1]]} is expected, but {found[2]} came",
            message,
        )
        raise UserError(f"{message}; see '{self.prog} --help'")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            raise UserError(self._unknown(unknown))
        return parsed, unknown

    def _unknown(self, words: Sequence[str]) -> str:
        see = f"see '{self.prog} --help'"
        options = [word for word in words if word.startswith("-")]
        if not options:
            return f"'{words[0]}' is one argument too many; {see}"
        name = options[0].partition("=")[0]
        return f"there is no option {name}; {did_you_mean(name, self._option_string_actions, see)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "command" if action.dest == "command" else str(action.metavar or action.dest).lower()
            known = [str(choice) for choice in action.choices]
            hint = did_you_mean(str(value), known, f"choose from {', '.join(known)}")
            raise UserError(f"there is no {what} '{value}'; {hint}")

    def format_help(self) -> str:
        """What every command shares comes last; the usage names only what must be given."""
        self._action_groups.sort(key=lambda group: group.title == OUTPUT)
        self.usage = self.usage or self._short_usage()
        return super().format_help()

    def _short_usage(self) -> str:
        words = [self.prog]
        for action in self._actions:
            name = action.metavar if isinstance(action.metavar, str) else action.dest
            if not action.option_strings:
                words.append(f"[{name}]" if action.nargs == "?" else name)
            elif action.required:
                words.append(f"{action.option_strings[-1]} {name}")
        return " ".join([*words, "[options]"]).replace("%", "%%")


def command(
    commands: Commands,
    name: str,
    work: Callable[[argparse.Namespace], dict[str, Any]],
    what: str,
    example: str,
) -> argparse.ArgumentParser:
    """Declare a command: ``work`` takes the parsed arguments and gives what --json prints. The examples work
    as typed, one after the other in the order of ``offnac --help``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        description=textwrap.fill(what[0].upper() + what[1:] + ".", 79),
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(work=work)
    output = parser.add_argument_group(OUTPUT)
    output.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    output.add_argument("--quiet", action="store_true", help="no progress")
    return parser
