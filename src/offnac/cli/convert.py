"""offnac convert: a log from one format to another."""

import argparse
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "convert",
        run,
        "check a log and write it as Parquet, CSV or a Minari dataset",
        "offnac convert cartpole.parquet cartpole.csv",
    )
    options.add_log(parser)
    parser.add_argument(
        "out", metavar="OUT", help="what to write: a name that ends in .parquet or .csv, or minari:ID"
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import api, console

    result = api.convert(arguments.log, arguments.out, options.columns(arguments))
    console.warn(result["warnings"])
    if not arguments.json:
        console.show_conversion(result)
    return result
