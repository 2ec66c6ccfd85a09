"""Options that several commands share."""

import argparse


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


def add_max_steps(parser: argparse.ArgumentParser, default: str) -> None:
    text = f"time limit of an episode, in steps (default: {default})"
    parser.add_argument("--max-steps", type=int, metavar="N", help=text)
