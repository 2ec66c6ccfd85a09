"""One process that trains a group of seeds of a run: ``python -m offnac.worker DIR SEED…``.

News goes to standard output, a line for each training episode.
"""

import sys
from pathlib import Path

from offnac import files, processes


def main(arguments: list[str]) -> int:
    # First of all, and JAX only then: importing it takes seconds.
    stop, news = processes.asked_to_stop(), processes.news()
    from offnac import api
    from offnac.training.progress import Update
    from offnac.training.stream import train_seeds

    def report(update: Update) -> None:
        print(*update, file=news, flush=True)

    def work() -> None:
        out, seeds = Path(arguments[0]), [int(seed) for seed in arguments[1:]]
        request = files.read_json(out / api.RUN)["request"]
        task, experiment = api.prepare(request)
        train_seeds(
            task,
            experiment,
            seeds,
            out,
            test_episodes=request["test_episodes"],
            report=report,
            stop=stop,
            provenance={"request": request},
        )

    return processes.exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
