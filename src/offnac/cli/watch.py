"""offnac watch: a policy at work, as a film."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "watch",
        run,
        "film one episode of a policy",
        "offnac watch out/cartpole-nac CartPole-v1 --out cartpole.gif",
    )
    parser.add_argument(
        "policy", metavar="RUN_OR_POLICY", help="a policy folder, or a run, of which the middle seed is shown"
    )
    parser.add_argument(
        "environment",
        nargs="?",
        metavar="ENV",
        help="the task (default: the policy's own)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILM",
        help="the file to write, a .gif or .mp4",
    )
    options.add_seed(parser)
    options.add_max_steps(parser, "what the policy was trained with on ENV, else the task's own")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.report.watching import watch

    with console.waiting("filming", arguments.quiet):
        result = watch(
            arguments.policy,
            arguments.environment,
            out=arguments.out,
            first_seed=arguments.first_seed,
            max_steps=arguments.max_steps,
        )
    if not arguments.json:
        console.show_film(result)
    return result
