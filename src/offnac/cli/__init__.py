"""The command line: thin. It parses, calls, prints; JAX is imported only once there is work to do.

A command is a file here with ``add`` (its arguments) and ``run`` (the work); heavy imports stay in ``run``.
"""

import argparse
import json
import shlex
import sys
import textwrap
from collections.abc import Sequence

from offnac import compile_cache, files
from offnac.cli import (
    audit,
    collect,
    completion,
    convert,
    doctor,
    evaluate,
    export,
    learn,
    ope,
    report,
    reproduce,
    train,
    tune,
    watch,
)
from offnac.cli.command import Parser
from offnac.errors import Stopped, UserError

GROUPS = {
    "from a log": (collect, convert, learn, audit, ope),
    "in a simulator": (train, evaluate),
    "look at what was learned, and use it": (watch, report, export),
    "search and compare": (tune, reproduce),
    "this installation": (doctor, completion),
}
"""In the order of --help, which is also the order in which the commands' examples work."""


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog="offnac",
        usage="offnac COMMAND [options]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Example: offnac train CartPole-v1 --algorithm nac --out out/cartpole\n"
        "Every command says more with --help, and has an example there.",
    )
    root.add_argument("--version", action="store_true", help="print the version and exit")
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", prog="offnac", parser_class=Parser, help=argparse.SUPPRESS
    )
    lines = ["Natural actor-critic with neural-network-compatible features, on-policy and off-policy."]
    for title, members in GROUPS.items():
        lines += ["", f"{title}:"]
        for member in members:
            member.add(commands)
            name, added = list(commands.choices.items())[-1]
            what = " ".join(str(added.description).split())
            told = f"  {name:<12}{what[0].lower()}{what[1:-1]}"
            lines.append(textwrap.fill(told, 79, subsequent_indent=14 * " "))
    root.description = "\n".join(lines)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(arguments)
    except UserError as error:
        print(f"offnac: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if (sentence := files.advice(error)) is None:
            raise
        print(f"offnac: {sentence}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("offnac: stopped", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    root = parser()
    parsed = root.parse_args(arguments)
    if parsed.version:
        from offnac.provenance import versions

        print(versions().get("offnac", "not installed"))
        return 0
    if parsed.command is None:
        root.print_help()
        return 0
    compile_cache.enable()
    try:
        result = parsed.work(parsed)
    except Stopped:
        again = shlex.join(["offnac", *arguments, *([] if "--resume" in arguments else ["--resume"])])
        print(f"offnac: stopped, and everything is saved; go on with: {again}", file=sys.stderr)
        return 130
    if parsed.json:
        print(json.dumps(result, ensure_ascii=False))
    return 0
