"""offnac completion: what a shell needs to complete offnac's commands, options and names."""

import argparse
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from offnac.cli.command import Commands, command

SHELLS = ("bash", "zsh", "fish")


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "completion",
        run,
        "print what a shell needs to complete offnac's commands, options and names",
        "offnac completion bash",
    )
    parser.epilog = (
        f"{parser.epilog}\n\nTo keep it:\n"
        "  bash: echo 'eval \"$(offnac completion bash)\"' >> ~/.bashrc\n"
        "  zsh:  echo 'eval \"$(offnac completion zsh)\"' >> ~/.zshrc\n"
        "  fish: offnac completion fish > ~/.config/fish/completions/offnac.fish"
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(parsers=commands.choices)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import environments

    script = _script(arguments.shell, arguments.parsers, environments.names())
    if not arguments.json:
        print(script, end="")
    return {"shell": arguments.shell, "script": script}


class Option(NamedTuple):
    name: str
    """--seeds"""
    help: str
    takes: bool
    """Whether a value follows."""
    values: list[str]
    """Those that are known."""


def _script(shell: str, parsers: dict[str, argparse.ArgumentParser], tasks: list[str]) -> str:
    if shell == "fish":
        return "".join(f"{line}\n" for line in _fish(parsers, tasks))
    begin = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
    return (begin if shell == "zsh" else "") + _bash(parsers, tasks)


def _options(parser: argparse.ArgumentParser) -> list[Option]:
    return [
        Option(
            action.option_strings[-1],
            " ".join((action.help or "").replace("%%", "%").split()),
            action.nargs != 0,
            _values(action),
        )
        for action in parser._actions
        if action.option_strings
    ]


def _values(action: argparse.Action) -> list[str]:
    """The words among what a metavar such as ``uniform|POLICY`` says may follow: what is not in capitals."""
    said = action.metavar if isinstance(action.metavar, str) else ""
    words = [word for word in said.split("|") if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
    return [str(choice) for choice in action.choices] if action.choices else words


def _wants_task(parser: argparse.ArgumentParser) -> bool:
    return any("ENV" in str(action.metavar) for action in parser._actions if not action.option_strings)


def _first_values(parser: argparse.ArgumentParser) -> list[str]:
    return [word for action in parser._actions if not action.option_strings for word in _values(action)]


def _bash(parsers: dict[str, argparse.ArgumentParser], tasks: list[str]) -> str:
    cases = []
    for name, parser in parsers.items():
        options = _options(parser)
        values = "".join(
            f'        {option.name}) words="{" ".join(option.values)}"{" files=" * bool(option.values)} ;;\n'
            for option in options
            if option.takes
        )
        words = " ".join([*_first_values(parser), *(option.name for option in options)])
        words += " $tasks" if _wants_task(parser) else ""
        cases.append(
            f'    {name})\n      case "$previous" in\n{values}        *) words="{words}" ;;\n      esac ;;\n'
        )
    return f"""_offnac() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words="" files=yes
  local tasks="{" ".join(tasks)}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(parsers)} --help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{"".join(cases)}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _offnac offnac
"""


def _fish(parsers: dict[str, argparse.ArgumentParser], tasks: list[str]) -> Iterator[str]:
    for name, parser in parsers.items():
        what = shlex.quote(parser.description or "")
        yield f"complete -c offnac -n __fish_use_subcommand -f -a {name} -d {what}"
        here = f"complete -c offnac -n '__fish_seen_subcommand_from {name}'"
        words = [*_first_values(parser), *(tasks if _wants_task(parser) else ())]
        if words:
            yield f"{here} -a {shlex.quote(' '.join(words))}"
        for option in _options(parser):
            takes = " -r" if option.takes else ""
            values = f" -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            yield f"{here} -l {option.name.removeprefix('--')}{takes}{values} -d {shlex.quote(option.help)}"
