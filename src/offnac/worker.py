"""One process that trains a group of seeds of a run: ``python -m offnac.worker DIR SEED…``.

News goes to standard output, a line for each training episode.
"""

import signal
import sys
from pathlib import Path
from threading import Event

from offnac import api, files
from offnac.errors import UserError
from offnac.training.progress import Stopped, Update
from offnac.training.stream import train_seeds


def report(update: Update) -> None:
    print(*update, flush=True)


def main(arguments: list[str]) -> int:
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    out, seeds = Path(arguments[0]), [int(seed) for seed in arguments[1:]]
    request = files.read_json(out / api.RUN)["request"]
    try:
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
    except Stopped:
        return 130
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        if (sentence := files.advice(error)) is None:
            raise
        print(sentence, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
