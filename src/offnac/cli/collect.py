"""offnac collect: write a log of a behaviour."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "collect",
        run,
        "write a log of a behaviour in a simulator, with its probabilities",
        "offnac collect CartPole-v1 --steps 5000 --out cartpole.parquet",
    )
    parser.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    parser.add_argument("--steps", type=int, required=True, metavar="N", help="rows of the log")
    parser.add_argument("--out", type=Path, required=True, metavar="LOG", help="the Parquet file to write")
    parser.add_argument(
        "--behaviour",
        default="uniform",
        metavar="uniform|POLICY[:EPS]",
        help="who acts: every action alike, or a policy folder with a share EPS of uniform actions",
    )
    options.add_seed(parser)
    options.add_max_steps(parser, "the task's own")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import api, console

    with console.counting("collecting", "steps", arguments.steps, arguments.quiet) as report:
        result = api.collect(
            arguments.environment,
            steps=arguments.steps,
            out=arguments.out,
            behaviour=arguments.behaviour,
            first_seed=arguments.first_seed,
            max_steps=arguments.max_steps,
            report=report,
        )
    if not arguments.json:
        console.show_log(result)
    return result
