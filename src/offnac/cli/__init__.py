"""The command line: thin. It parses, calls, prints; JAX is imported only once there is work to do.

A command is a file here with ``add`` (its arguments) and ``run`` (the work); heavy imports stay in ``run``.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence

from offnac import compile_cache, files
from offnac.cli import (
    audit,
    collect,
    convert,
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

COMMANDS = (collect, convert, audit, learn, ope, train, evaluate, watch, report, export, tune, reproduce)
"""In the order of --help."""


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog="offnac",
        description="Natural actor-critic with neural-network-compatible features, on-policy and off-policy.",
        epilog="Example: offnac train CartPole-v1 --algorithm nac --out out/cartpole",
    )
    root.add_argument("--version", action="store_true", help="print the version and exit")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.add(commands)
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
