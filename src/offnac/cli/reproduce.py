"""offnac reproduce: the paper's tables and figures."""

import argparse
from pathlib import Path
from typing import Any

from offnac.cli import options
from offnac.cli.command import Commands, command


def add(commands: Commands) -> None:
    parser = command(
        commands,
        "reproduce",
        run,
        "run the cells of the paper's tables across seeds, ours beside theirs",
        "offnac reproduce --cells cartpole-nac --presets published --seeds 2 --episodes 50 --out out/cell",
    )
    parser.add_argument(
        "--cells",
        type=options.names,
        default=("*",),
        metavar="NAME,…",
        help="cells such as cartpole-nac, beginnings of them such as acrobot, or wildcards such as *-lambda "
        "(default: all 20)",
    )
    parser.add_argument(
        "--presets",
        type=options.names,
        metavar="NAME,…",
        help="default: published,paper,robust as far as there",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/reproduce"), metavar="DIR", help="default: out/reproduce"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with what is in DIR; finished runs stay, and cells, presets and seeds may be added",
    )
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="DIR",
        help="copy summary, thinned curves and figures there at the end",
    )
    options.add_seeds(parser, 16, "runs of each cell", first=1000)
    options.add_protocol(parser, "the paper's budget")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    from offnac import console
    from offnac.experiments.jobs import Settings
    from offnac.experiments.reproduce import reproduce

    settings = Settings(
        seeds=arguments.seeds,
        first_seed=arguments.first_seed,
        test_episodes=arguments.test_episodes,
        episodes=arguments.episodes,
        newest=arguments.newest,
    )
    with console.reproducing(arguments.quiet) as (report, stop):
        result = reproduce(
            out=arguments.out,
            cells=arguments.cells,
            presets=arguments.presets,
            settings=settings,
            workers=arguments.workers,
            resume=arguments.resume,
            publish=arguments.publish,
            report=report,
            stop=stop,
        )
    if not arguments.json:
        console.show_reproduction(result, arguments.out)
    return result
