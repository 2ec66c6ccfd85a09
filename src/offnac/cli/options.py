"""Options that several commands share."""

import argparse
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offnac.logs import Columns


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def add_protocol(parser: argparse.ArgumentParser, budget: str) -> None:
    protocol = parser.add_argument_group("protocol")
    protocol.add_argument("--episodes", type=int, metavar="N", help=f"training episodes (default: {budget})")
    protocol.add_argument(
        "--test-episodes", type=int, default=1000, metavar="N", help="test episodes (default 1000)"
    )
    protocol.add_argument(
        "--newest",
        type=float,
        metavar="W",
        help="weight of the newest return in the running average: 0.1 as published, 0.9 as printed",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--first-seed", type=int, default=0, metavar="S", help="the first seed (default 0)")


def add_seeds(
    parser: argparse.ArgumentParser, default: int, what: str, first: int = 0, changes: str = ""
) -> None:
    """How many runs, which ones, on how many cores."""
    group = parser.add_argument_group("seeds and cores")
    group.add_argument("--seeds", type=int, default=default, metavar="N", help=f"{what} (default {default})")
    group.add_argument(
        "--first-seed", type=int, default=first, metavar="S", help=f"the first seed (default {first})"
    )
    group.add_argument("--workers", type=int, metavar="N", help=f"cores to use (default: all){changes}")


def spread_over_cores() -> None:
    """Threads of LAPACK's own would only wait for each other. To be said before JAX is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def add_max_steps(parser: argparse._ActionsContainer, default: str) -> None:
    text = f"time limit of an episode, in steps (default: {default})"
    parser.add_argument("--max-steps", type=int, metavar="N", help=text)


def add_settings(parser: argparse._ActionsContainer, whose: str) -> None:
    parser.add_argument(
        "--settings",
        metavar="FILE",
        help=f"other settings of {whose}, in JSON: what offnac tune found, or names and values of your own",
    )


def add_track(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track",
        type=names,
        default=(),
        metavar="NAME,…",
        help="show the run as it goes in tensorboard, in wandb (Weights & Biases), or in both",
    )


LOG_HELP = "a log: Parquet, CSV, or minari:ID for a Minari dataset"


def add_log(parser: argparse.ArgumentParser) -> None:
    """The log to read, and the names of its columns where they are not the schema's."""
    parser.add_argument("log", metavar="LOG", help=LOG_HELP)
    add_columns(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "columns of a table of your own", "not needed for logs with the names of the documentation"
    )
    for part, what in (
        ("observation", "what is known before the decision"),
        ("next-observation", "what is known after it (default: the next row's)"),
    ):
        group.add_argument(f"--{part}", type=names, metavar="NAME,…", help=what)
    for part, what in (
        ("action", "the decision; labels are numbered in their order"),
        ("reward", "what it earned"),
        ("episode", "which rows belong together"),
        ("step", "their order (default: that of the table)"),
        ("terminated", "whether the task ended there"),
        ("truncated", "whether recording was cut short there"),
        ("behaviour-prob", "the probability with which the action was taken"),
    ):
        group.add_argument(f"--{part}", metavar="NAME", help=what)
    group.add_argument(
        "--actions",
        type=names,
        metavar="N|NAME,…",
        help="how many actions there are, or their labels in order",
    )


def columns(arguments: argparse.Namespace) -> "Columns":
    """What :func:`add_columns` was told."""
    from offnac.logs import Columns

    told: dict[str, Any] = {name: getattr(arguments, name) for name in Columns.__dataclass_fields__}
    if told["actions"] is not None and len(told["actions"]) == 1 and told["actions"][0].isdigit():
        told["actions"] = int(told["actions"][0])
    return Columns(**told)


def add_gamma(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--gamma",
        type=float,
        metavar="G",
        help="discount factor γ, in (0, 1) (default: what the policy was learned with, else 0.99)",
    )
