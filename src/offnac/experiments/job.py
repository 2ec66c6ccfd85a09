"""One process that does one job of a reproduction: ``python -m offnac.experiments.job DIR REQUEST``.

REQUEST is a JSON object, the arguments of :func:`offnac.api.train`. News goes to standard output, a line
each.
"""

import fcntl
import json
import os
import sys
from pathlib import Path

from offnac import compile_cache, processes


def main(arguments: list[str]) -> int:
    stop, news = processes.asked_to_stop(), processes.news()
    compile_cache.enable()
    from offnac import api
    from offnac.training.progress import Update

    def report(update: Update) -> None:
        print(update.seed, update.episodes, file=news, flush=True)

    def work() -> None:
        out = Path(arguments[0])
        out.mkdir(parents=True, exist_ok=True)
        folder = os.open(out, os.O_RDONLY)
        # A job that lost its reproduction a moment ago may still be writing its last chunk here.
        fcntl.flock(folder, fcntl.LOCK_EX)
        api.train(**json.loads(arguments[1]), out=out, resume=True, report=report, stop=stop)

    return processes.exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
