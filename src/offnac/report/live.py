"""A page of running work, served on this machine only: it is made anew as the work goes on.

Nothing can be asked for but the page and its state, and nothing can be changed; no path of a request ever
reaches the disk.
"""

import hashlib
import time
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from offnac.errors import UserError
from offnac.report import page
from offnac.report.folder import Document

HOST = "127.0.0.1"
PORT = 8765
AT_MOST = 2.0
"""Seconds for which a state is kept: so often may a page change."""
WATCHED = ("summary.json", "run.json", "seed-*/*.parquet", "seed-*/result.json")


class Live:
    """The page as of now, made once for each state of the folder."""

    def __init__(self, folder: Path, document: Document) -> None:
        self.folder, self.document, self.lock = folder, document, Lock()
        self._looked, self._state = float("-inf"), ""
        self._shown, self._html = "", ""

    def state(self) -> str:
        with self.lock:
            if time.monotonic() - self._looked > AT_MOST:
                self._state, self._looked = fingerprint(self.folder), time.monotonic()
            return self._state

    def html(self) -> str:
        state = self.state()
        with self.lock:
            if state != self._shown:
                self._html, self._shown = self._made(state), state
            return self._html

    def _made(self, state: str) -> str:
        try:
            return self.document(state)
        except (UserError, FileNotFoundError) as error:
            # What is at work may not have written everything yet.
            return page.document(str(self.folder), f"<p>{escape(str(error))}.</p>", [], live=state)


def fingerprint(folder: Path) -> str:
    """Another one as soon as the work has written something."""
    digest = hashlib.sha256()
    for pattern in (*WATCHED, *(f"runs/*/{one}" for one in WATCHED)):
        for path in sorted(folder.glob(pattern)):
            try:
                written = path.stat()
            except FileNotFoundError:
                continue
            digest.update(f"{path} {written.st_mtime_ns} {written.st_size}\n".encode())
    return digest.hexdigest()[:16]


def server(folder: Path, document: Document, port: int = PORT) -> ThreadingHTTPServer:
    """A server of the folder's page, on this machine's own address; port 0 takes any that is free."""
    if not 0 <= port <= 65535:
        raise UserError(f"a port is a number from 0 to 65535, but --port is {port}; 0 takes any that is free")
    try:
        return ThreadingHTTPServer((HOST, port), _handler(Live(folder, document)))
    except OSError as error:
        raise UserError(
            f"port {port} cannot be used ({error.strerror}); choose another --port, or 0 for any that is free"
        ) from error


def _handler(live: Live) -> type[BaseHTTPRequestHandler]:
    answers: dict[str, tuple[Callable[[], str], str]] = {
        "/": (live.html, "text/html"),
        "/state": (live.state, "text/plain"),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = (self.headers.get("Host") or "").partition(":")[0]
            if name not in (HOST, "localhost"):
                # A page elsewhere that has its own name point here must not read this one.
                self.send_error(403)
            elif self.path not in answers:
                self.send_error(404)
            else:
                answer, kind = answers[self.path]
                self._send(answer().encode(), kind)

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: the terminal is the work's."""

    return Handler
