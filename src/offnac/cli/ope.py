"""offnac ope: the value of a policy from a log alone."""

import argparse
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "ope",
        run,
        "estimate a policy's value from a log alone: several estimators, 95% intervals, and which to trust",
        "offnac ope out/learned cartpole.parquet --gamma 0.99",
    )
    parser.add_argument("policy", metavar="POLICY", help="a policy folder")
    options.add_log(parser)
    options.add_gamma(parser)
    options.add_max_steps(parser, "what the policy was trained with on this task, else the longest logged")
    options.add_seed(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import api, console
    from offnac.evaluation import off_policy

    with console.counting("estimating", "stages", off_policy.STAGES, arguments.quiet) as report:
        result = api.ope(
            arguments.policy,
            arguments.log,
            options.columns(arguments),
            gamma=arguments.gamma,
            max_steps=arguments.max_steps,
            first_seed=arguments.first_seed,
            report=report,
        )
    console.warn(result["warnings"])
    if not arguments.json:
        console.show_ope(result)
    return result
