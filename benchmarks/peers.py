"""Other libraries, each in a process of the virtual environment that ``make peers`` sets up.

They are asked by lines of JSON, so that nothing of theirs is installed beside offnac. Where the environment
is not there, every answer is None: a peer that is missing is said to be missing, and nothing fails.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from harness import ROOT

PYTHON = ROOT / ".cache" / "peers" / "bin" / "python"


class Peer:
    """A script of the peers' environment that answers requests one after the other."""

    def __init__(self, script: str) -> None:
        self.process: subprocess.Popen[str] | None = None
        if PYTHON.exists():
            command = [str(PYTHON), str(Path(__file__).with_name(script))]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        self.versions: dict[str, str] = self.ask(job="versions") or {}
        if not self.versions:
            print(f"{script}: the peers are missing here (make peers sets them up)", file=sys.stderr)

    def ask(self, **request: Any) -> Any:
        """The answer, or None where there is nobody to ask."""
        if self.process is None or self.process.poll() is not None:
            return None
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else None

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.process.wait()
