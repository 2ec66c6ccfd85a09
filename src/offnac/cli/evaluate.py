"""offnac evaluate: a policy in a simulator."""

import argparse
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "evaluate",
        run,
        "run a policy in a simulator: mean, SD, standard error and quantiles of the total reward",
        "offnac evaluate out/cartpole-nac/seed-0/best CartPole-v1 --episodes 250",
    )
    parser.add_argument("policy", metavar="POLICY", help="a policy folder")
    parser.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    parser.add_argument("--episodes", type=int, default=1000, metavar="N", help="default 1000")
    options.add_seed(parser)
    options.add_max_steps(parser, "what the policy was trained with on ENV, else the task's own")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import api, console

    with console.counting("evaluating", "episodes", arguments.episodes, arguments.quiet) as report:
        result = api.evaluate(
            arguments.policy,
            arguments.environment,
            episodes=arguments.episodes,
            first_seed=arguments.first_seed,
            max_steps=arguments.max_steps,
            report=report,
        )
    if not arguments.json:
        console.show_evaluation(result)
    return result
