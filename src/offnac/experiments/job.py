"""One process that does one job of a reproduction: ``python -m offnac.experiments.job DIR REQUEST``.

REQUEST is a JSON object, the arguments of :func:`offnac.api.train`. News goes to standard output, a line
each. The end of standard input asks it to stop, so that it stops as well when whoever began it is killed.
"""

import fcntl
import json
import os
import signal
import sys
from pathlib import Path
from threading import Event, Thread

from offnac import compile_cache, files
from offnac.errors import UserError

GRACE_SECONDS = 10.0
"""How long a job may take to stop by itself; what takes longer is a test, which is simply made again."""


def main(arguments: list[str]) -> int:
    # Ctrl-C reaches every process of the terminal; here only the end of standard input counts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Thread(target=_listen, args=(stop,), daemon=True).start()
    compile_cache.enable()
    from offnac import api
    from offnac.training.progress import Stopped, Update

    def report(update: Update) -> None:
        print(update.seed, update.episodes, flush=True)

    try:
        out = Path(arguments[0])
        out.mkdir(parents=True, exist_ok=True)
        folder = os.open(out, os.O_RDONLY)
        # A job that lost its reproduction a moment ago may still be writing its last chunk here.
        fcntl.flock(folder, fcntl.LOCK_EX)
        api.train(**json.loads(arguments[1]), out=out, resume=True, report=report, stop=stop)
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


def _listen(stop: Event) -> None:
    # Not through sys.stdin, whose lock would be held when the interpreter ends.
    while os.read(0, 1024):
        pass
    stop.set()
    Event().wait(GRACE_SECONDS)
    os._exit(130)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
