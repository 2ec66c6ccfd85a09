"""Processes that stop when they are asked to, or when whoever began them is gone.

The end of a process's standard input asks it to stop: a pipe also ends when its other side is killed.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TextIO

from offnac import files
from offnac.errors import Stopped, UserError

GRACE_SECONDS = 10.0
"""How long a process may take to stop by itself; what takes longer is done again by ``--resume``."""


class Pipes:
    """The standard inputs of all processes at work; closing them asks the processes to stop."""

    def __init__(self) -> None:
        self.processes: set[subprocess.Popen[str]] = set()
        self.closed, self.lock = False, Lock()

    @contextmanager
    def begun(
        self, command: Sequence[str], environment: Mapping[str, str]
    ) -> "Iterator[tuple[subprocess.Popen[str], TextIO]]":
        """A new process, whose news comes by its standard output, and a file that its complaints go to."""
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                text=True,
            ) as process,
            self.holding(process),
        ):
            yield process, errors

    @contextmanager
    def holding(self, process: "subprocess.Popen[str]") -> Iterator[None]:
        with self.lock:
            self.processes.add(process)
            if self.closed:
                _close(process)
        try:
            yield
        finally:
            with self.lock:
                self.processes.remove(process)
            _close(process)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            for process in self.processes:
                _close(process)


def _close(process: "subprocess.Popen[str]") -> None:
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()


def asked_to_stop() -> Event:
    """In such a process: an event that is set once it is to stop."""
    # Ctrl-C reaches every process of the terminal; here only the end of standard input counts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Thread(target=_listen, args=(stop,), daemon=True).start()
    return stop


def news() -> TextIO:
    """In such a process: standard output, for news alone. What simulators print goes to standard error."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return channel


def _listen(stop: Event) -> None:
    # Not through sys.stdin, whose lock would be held when the interpreter ends.
    while os.read(0, 1024):
        pass
    stop.set()
    Event().wait(GRACE_SECONDS)
    os._exit(130)


def exit_status(work: Callable[[], object]) -> int:
    """Do a process's work: 0; 130 where it was stopped; 2 and one sentence where the input is at fault."""
    try:
        work()
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
