"""offnac learn: a policy from a log alone."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command

ALGORITHMS = ("offnac", "offac", "bc")


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "learn",
        run,
        "learn a policy from a log alone, without a simulator",
        "offnac learn cartpole.parquet --iterations 50 --out out/learned",
    )
    options.add_log(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--algorithm",
        default="offnac",
        metavar="|".join(ALGORITHMS),
        help="natural gradient (offnac, the default), plain gradient (offac), imitation of the log (bc)",
    )
    parser.add_argument("--resume", action="store_true", help="go on where a stopped run in DIR was")
    options.add_seeds(parser, 1, "how many runs to choose from")
    options.add_track(parser)
    options.add_settings(parser, "learn")
    parser.add_argument(
        "--gamma",
        type=float,
        metavar="G",
        help="discount factor γ, in (0, 1) (default 0.99; 0.998 where rewards are progress)",
    )
    parser.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help="updates of the policy (default: 240 to 960 by the task's size, 360 where rewards are progress)",
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    options.spread_over_cores()
    from offnac import console, learning

    with console.learning(arguments.seeds, quiet=arguments.quiet) as (report, fitted, stop):
        result = learning.learn(
            arguments.log,
            arguments.algorithm,
            out=arguments.out,
            seeds=arguments.seeds,
            first_seed=arguments.first_seed,
            gamma=arguments.gamma,
            iterations=arguments.iterations,
            workers=arguments.workers,
            resume=arguments.resume,
            track=arguments.track,
            settings=arguments.settings,
            report=report,
            fitted=fitted,
            stop=stop,
            **vars(options.columns(arguments)),
        )
    console.warn(result["warnings"])
    if not arguments.json:
        console.show_learning(result)
    return result
