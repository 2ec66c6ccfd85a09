"""offnac audit: what is in a log, and can it support a policy?"""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "audit",
        run,
        "say what is in a log, and whether it can support a policy",
        "offnac audit cartpole.parquet out/learned --html audit.html",
    )
    options.add_log(parser)
    parser.add_argument("policy", nargs="?", metavar="POLICY", help="a policy folder")
    options.add_gamma(parser)
    parser.add_argument("--html", type=Path, metavar="PAGE", help="write the audit as a web page, too")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import api, console, files
    from offnac.report import audit as page

    if arguments.html is not None:
        files.require_absent(arguments.html)
    result = api.audit(arguments.log, arguments.policy, options.columns(arguments), gamma=arguments.gamma)
    console.warn(result["warnings"])
    if arguments.html is not None:
        page.write(result, arguments.html)
    if not arguments.json:
        console.show_audit(result)
    return result
