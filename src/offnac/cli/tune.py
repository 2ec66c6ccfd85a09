"""offnac tune: a search for settings."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "tune",
        run,
        "search for better settings of train (of its robust preset) or of learn",
        "offnac tune CartPole-v1 --algorithm nac --trials 3 --episodes 20 --seeds 1 --out out/tune",
    )
    parser.add_argument(
        "source",
        metavar="ENV|LOG",
        help="a gymnax or Gymnasium id with discrete actions; or a log: Parquet, CSV, or minari:ID",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--algorithm",
        default="offnac",
        metavar="NAME",
        help="in a simulator ac, nac, offac or offnac, from a log offnac, offac or bc (default: offnac)",
    )
    parser.add_argument("--resume", action="store_true", help="go on where a stopped search in DIR was")
    parser.add_argument(
        "--trials",
        type=int,
        default=20,
        metavar="N",
        help="trials in all, the first with the settings as they are (default 20); with --resume there may "
        "be more of them than before",
    )
    parser.add_argument(
        "--search",
        type=options.names,
        metavar="NAME,…",
        help="the settings to search (default: those that usually matter and need no new compilation)",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=2,
        metavar="N",
        help="runs of each trial (default 2); all below seed 1000",
    )
    options.add_seed(parser)
    parser.add_argument(
        "--check-seeds",
        type=int,
        metavar="N",
        help="fresh seeds to compare the best settings on in the end (default: as many as --seeds; 0: none)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="cores to use (default: all)")
    numbers = parser.add_argument_group("numbers of every run")
    numbers.add_argument(
        "--gamma", type=float, metavar="G", help="discount factor γ, in (0, 1) (default 0.99)"
    )
    numbers.add_argument(
        "--lam", type=float, metavar="L", help="in a simulator: λ of the TD(λ) critic (default 0)"
    )
    numbers.add_argument("--episodes", type=int, metavar="N", help="in a simulator: training episodes")
    numbers.add_argument(
        "--test-episodes", type=int, metavar="N", help="in a simulator: test episodes (default 200)"
    )
    options.add_max_steps(numbers, "in a simulator: the paper's, else the task's own")
    numbers.add_argument("--iterations", type=int, metavar="N", help="from a log: updates of the policy")
    options.add_columns(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    options.spread_over_cores()
    from offnac import console
    from offnac.errors import UserError
    from offnac.tuning.tune import is_log, tune

    log = is_log(arguments.source)
    names = ("gamma", "iterations") if log else ("gamma", "lam", "episodes", "test_episodes", "max_steps")
    others = {"lam", "episodes", "test_episodes", "max_steps"} if log else {"iterations"}
    for name in others:
        if getattr(arguments, name) is not None:
            kind = "a log" if log else "an environment"
            raise UserError(
                f"--{name.replace('_', '-')} has no meaning for {kind}, and {arguments.source} is one; "
                "leave it out"
            )
    more = {"columns": options.columns(arguments)} if log else {}
    with console.tuning(quiet=arguments.quiet) as (report, stop):
        result = tune(
            arguments.source,
            arguments.algorithm,
            out=arguments.out,
            trials=arguments.trials,
            seeds=arguments.seeds,
            first_seed=arguments.first_seed,
            check_seeds=arguments.check_seeds,
            search=arguments.search,
            workers=arguments.workers,
            resume=arguments.resume,
            report=report,
            stop=stop,
            **{name: getattr(arguments, name) for name in names},
            **more,
        )
    if not arguments.json:
        console.show_tuning(result)
    return result
