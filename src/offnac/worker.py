"""One process that trains seeds of a run: ``python -m offnac.worker DIR SEED…``.

In a Gymnasium task all of them, in lockstep; in a JAX-native one together with other processes. News goes to
standard output, a line each.
"""

import json
import sys
from pathlib import Path
from typing import Any

from offnac import compile_cache, files, processes


def main(arguments: list[str]) -> int:
    # First of all, and JAX only then: importing it takes seconds.
    stop, news = processes.asked_to_stop(), processes.news()
    compile_cache.enable()
    from offnac.environments import is_native
    from offnac.request import prepare
    from offnac.run_folder import RUN
    from offnac.training.progress import Update
    from offnac.training.stream import share_seeds, train_seeds

    def report(update: Update) -> None:
        print(json.dumps(update), file=news, flush=True)

    def work() -> None:
        out, seeds = Path(arguments[0]), [int(seed) for seed in arguments[1:]]
        run = files.read_json(out / RUN)
        request = run["request"]
        task, experiment = prepare(request)
        common: dict[str, Any] = {
            "out": out,
            "test_episodes": request["test_episodes"],
            "report": report,
            "stop": stop,
            "provenance": {"request": request},
        }
        if is_native(task):
            at_work = min(run["workers"], len(seeds))
            share_seeds(task, experiment, seeds, processes=at_work, **common)
        else:
            train_seeds(task, experiment, seeds, **common)

    return processes.exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
