"""One process that trains seeds of a run: ``python -m offnac.worker DIR SEED…``.

In a Gymnasium task all of them, in lockstep; in a JAX-native one, one after the other, those that no other
process has taken. News goes to standard output, a line each.
"""

import sys
from functools import partial
from pathlib import Path

from offnac import compile_cache, files, processes


def main(arguments: list[str]) -> int:
    # First of all, and JAX only then: importing it takes seconds.
    stop, news = processes.asked_to_stop(), processes.news()
    compile_cache.enable()
    from offnac import api
    from offnac.claims import claim
    from offnac.environments import is_native
    from offnac.training.progress import Update
    from offnac.training.seed_folder import SeedFolder
    from offnac.training.stream import train_seeds

    def report(update: Update) -> None:
        print(*update, file=news, flush=True)

    def work() -> None:
        out, seeds = Path(arguments[0]), [int(seed) for seed in arguments[1:]]
        request = files.read_json(out / api.RUN)["request"]
        task, experiment = api.prepare(request)
        train = partial(
            train_seeds,
            task,
            experiment,
            out=out,
            test_episodes=request["test_episodes"],
            report=report,
            stop=stop,
            provenance={"request": request},
        )
        if not is_native(task):
            train(seeds)
            return
        for seed in seeds:
            with claim(SeedFolder(out, seed).path) as ours:
                if ours:
                    train([seed])
        # What others had taken is theirs, unless they left it.
        for seed in seeds:
            if SeedFolder(out, seed).result() is None:
                with claim(SeedFolder(out, seed).path, wait=True):
                    train([seed])

    return processes.exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
