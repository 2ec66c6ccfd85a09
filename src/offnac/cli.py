"""The command line: thin. It parses, calls, prints; JAX is imported only once there is work to do."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from offnac import compile_cache, files
from offnac.errors import Stopped, UserError

ALGORITHMS = ("ac", "nac", "offac", "offnac")


class Parser(argparse.ArgumentParser):
    """Answers a wrong call with one sentence and status 2."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see '{self.prog} --help'")


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog="offnac",
        description="Natural actor-critic with neural-network-compatible features, on-policy and off-policy.",
        epilog="Example: offnac train CartPole-v1 --algorithm nac --out out/cartpole",
    )
    root.add_argument("--version", action="store_true", help="print the version and exit")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _add_collect(commands)
    _add_train(commands)
    _add_evaluate(commands)
    _add_reproduce(commands)
    return root


def _command(
    commands: Any, name: str, work: Callable[[argparse.Namespace], dict[str, Any]], what: str, example: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(work=work)
    output = command.add_argument_group("output")
    output.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else"
    )
    output.add_argument("--quiet", action="store_true", help="no progress")
    return command


def _add_collect(commands: Any) -> None:
    command = _command(
        commands,
        "collect",
        _collect,
        "write a log of a behaviour in a simulator, with its probabilities",
        "offnac collect CartPole-v1 --steps 22000 --out cartpole.parquet",
    )
    command.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    command.add_argument("--steps", type=int, required=True, metavar="N", help="rows of the log")
    command.add_argument("--out", type=Path, required=True, metavar="LOG", help="the Parquet file to write")
    command.add_argument(
        "--behaviour",
        default="uniform",
        metavar="uniform|POLICY[:EPS]",
        help="who acts: every action alike, or a policy folder with a share EPS of uniform actions",
    )
    _add_seed(command)
    _add_max_steps(command, "the task's own")


def _add_train(commands: Any) -> None:
    command = _command(
        commands,
        "train",
        _train,
        "run the paper's on-line algorithms in a simulator",
        "offnac train CartPole-v1 --algorithm nac --seeds 4 --out out/cartpole-nac",
    )
    command.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    command.add_argument(
        "--algorithm", default="offnac", metavar="|".join(ALGORITHMS), help="default: offnac"
    )
    command.add_argument(
        "--preset",
        default="published",
        metavar="robust|published|paper|theory",
        help="settings by name: replay and trust regions (robust), what the experiments ran (published, the "
        "default), the paper's tables with the errata's corrections, or plain steps on two timescales",
    )
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    command.add_argument("--resume", action="store_true", help="go on where a stopped run in DIR was")
    command.add_argument("--seeds", type=int, default=1, metavar="N", help="how many runs (default 1)")
    _add_seed(command)
    _add_max_steps(command, "the paper's, else the task's own")
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="cores to use (default: all); changes no result",
    )
    _add_protocol(command, "the preset's")
    numbers = command.add_argument_group("numbers of the preset")
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


def _add_evaluate(commands: Any) -> None:
    command = _command(
        commands,
        "evaluate",
        _evaluate,
        "run a policy in a simulator: mean, SD, standard error and quantiles of the total reward",
        "offnac evaluate out/cartpole-nac/seed-0/best CartPole-v1 --episodes 1000",
    )
    command.add_argument("policy", metavar="POLICY", help="a policy folder")
    command.add_argument("environment", metavar="ENV", help="a gymnax or Gymnasium id with discrete actions")
    command.add_argument("--episodes", type=int, default=1000, metavar="N", help="default 1000")
    _add_seed(command)
    _add_max_steps(command, "what the policy was trained with on ENV, else the task's own")


def _add_reproduce(commands: Any) -> None:
    command = _command(
        commands,
        "reproduce",
        _reproduce,
        "run the cells of the paper's tables across seeds, ours beside theirs",
        "offnac reproduce --cells cartpole,*-lambda --seeds 4 --out out/some-cells",
    )
    command.add_argument(
        "--cells",
        type=_names,
        default=("*",),
        metavar="NAME,…",
        help="cells such as cartpole-nac, beginnings of them such as acrobot, or wildcards such as *-lambda "
        "(default: all 20)",
    )
    command.add_argument(
        "--presets", type=_names, metavar="NAME,…", help="default: published,paper,robust as far as there"
    )
    command.add_argument("--seeds", type=int, default=16, metavar="N", help="runs of each cell (default 16)")
    command.add_argument(
        "--first-seed", type=int, default=1000, metavar="S", help="the first seed (default 1000)"
    )
    command.add_argument(
        "--out", type=Path, default=Path("out/reproduce"), metavar="DIR", help="default: out/reproduce"
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help="go on with what is in DIR; finished runs stay, and cells, presets and seeds may be added",
    )
    command.add_argument(
        "--publish",
        type=Path,
        metavar="DIR",
        help="copy summary, thinned curves and figures there at the end",
    )
    command.add_argument("--workers", type=int, metavar="N", help="cores to use (default: all)")
    _add_protocol(command, "the paper's budget")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _add_protocol(command: argparse.ArgumentParser, budget: str) -> None:
    protocol = command.add_argument_group("protocol")
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


def _add_seed(command: argparse.ArgumentParser) -> None:
    command.add_argument("--first-seed", type=int, default=0, metavar="S", help="the first seed (default 0)")


def _add_max_steps(command: argparse.ArgumentParser, default: str) -> None:
    text = f"time limit of an episode, in steps (default: {default})"
    command.add_argument("--max-steps", type=int, metavar="N", help=text)


def _collect(arguments: argparse.Namespace) -> dict[str, Any]:
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


def _train(arguments: argparse.Namespace) -> dict[str, Any]:
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
            report=report,
            stop=stop,
            **{name: getattr(arguments, name) for name in names},
        )
    if not arguments.json:
        console.show_training(result, arguments.out)
    return result


def _evaluate(arguments: argparse.Namespace) -> dict[str, Any]:
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


def _reproduce(arguments: argparse.Namespace) -> dict[str, Any]:
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


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(arguments)
    except UserError as error:
        print(f"offnac: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if (sentence := files.advice(error)) is None:
            raise
        print(f"offnac: {sentence}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("offnac: stopped", file=sys.stderr)
        return 130


def _run(arguments: list[str]) -> int:
    root = parser()
    parsed = root.parse_args(arguments)
    if parsed.version:
        from offnac.provenance import versions

        print(versions().get("offnac", "not installed"))
        return 0
    if parsed.command is None:
        root.print_help()
        return 0
    compile_cache.enable()
    try:
        result = parsed.work(parsed)
    except Stopped:
        again = shlex.join(["offnac", *arguments, *([] if "--resume" in arguments else ["--resume"])])
        print(f"offnac: stopped, and everything is saved; go on with: {again}", file=sys.stderr)
        return 130
    if parsed.json:
        print(json.dumps(result, ensure_ascii=False))
    return 0
