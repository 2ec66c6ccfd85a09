"""offnac train: the paper's on-line algorithms."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command

ALGORITHMS = ("ac", "nac", "offac", "offnac")


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "train",
        run,
        "run the paper's on-line algorithms in a simulator",
        "offnac train CartPole-v1 --algorithm nac --episodes 100 --seeds 2 --out out/cartpole-nac",
    )
    parser.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    parser.add_argument("--algorithm", default="offnac", metavar="|".join(ALGORITHMS), help="default: offnac")
    parser.add_argument(
        "--preset",
        default="published",
        metavar="robust|published|shaped|paper|theory",
        help="settings by name: replay and trust regions (robust), what the experiments ran (published, the "
        "default), the paper's tables with the errata's corrections, or plain steps on two timescales",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    parser.add_argument("--resume", action="store_true", help="go on where a stopped run in DIR was")
    options.add_max_steps(parser, "the paper's, else the task's own")
    options.add_track(parser)
    options.add_seeds(parser, 1, "how many runs", changes="; changes no result")
    options.add_protocol(parser, "the preset's")
    numbers = parser.add_argument_group("numbers of the preset")
    options.add_settings(numbers, "the robust preset")
    numbers.add_argument(
        "--lam", type=float, metavar="L", help="λ of the TD(λ) critic, in [0, 1] (default 0)"
    )
    numbers.add_argument(
        "--gamma", type=float, metavar="G", help="discount factor γ, in (0, 1) (default 0.99)"
    )
    numbers.add_argument("--actor-rate", type=float, metavar="R", help="step size of θ")
    numbers.add_argument("--x-rate", type=float, metavar="R", help="step size of the advantage critic x")
    numbers.add_argument("--value-rate", type=float, metavar="R", help="step size of the value critic ψ")
    numbers.add_argument("--ratio-rate", type=float, metavar="R", help="step size of the ratios w, ŵ")
    numbers.add_argument(
        "--critic-power", type=float, metavar="P", help="theory: decay of the critics' rates"
    )
    numbers.add_argument("--actor-power", type=float, metavar="P", help="theory: decay of the actor's rate")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    options.spread_over_cores()
    from offnac import api, console

    names = (
        *("lam", "gamma", "episodes", "newest", "actor_rate", "x_rate", "value_rate", "ratio_rate"),
        *("critic_power", "actor_power"),
    )
    with console.training(arguments.seeds, quiet=arguments.quiet) as (report, stop):
        result = api.train(
            arguments.environment,
            arguments.algorithm,
            out=arguments.out,
            preset=arguments.preset,
            seeds=arguments.seeds,
            first_seed=arguments.first_seed,
            test_episodes=arguments.test_episodes,
            max_steps=arguments.max_steps,
            workers=arguments.workers,
            resume=arguments.resume,
            track=arguments.track,
            settings=arguments.settings,
            report=report,
            stop=stop,
            **{name: getattr(arguments, name) for name in names},
        )
    if not arguments.json:
        console.show_training(result, arguments.out)
    return result
