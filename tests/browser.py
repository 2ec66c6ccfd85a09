"""A real browser to look at pages with."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: looks at the page with a real Chromium")


@pytest.fixture
def browser(chromium: "Browser") -> Iterator["Browser"]:
    """The browser, which leaves the page once the test is over: what is served then is served no more."""
    yield chromium
    chromium.ask("POST", "/url", {"url": "about:blank"})
    chromium.console()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Browser"]:
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip(
            "Chromium and its driver are not installed: "
            "apt-get update && apt-get install -y chromium chromium-driver"
        )
    with browsing(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--disable-quic", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


class Browser:
    """Chromium by way of its driver, whose protocol is JSON over HTTP: no package is needed for it."""

    def __init__(self, address: str, profile: Path) -> None:
        self.address = address
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"], "binary": shutil.which("chromium")}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/session/{session['sessionId']}"

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def open(self, path: Path) -> None:
        self.ask("POST", "/url", {"url": path.resolve().as_uri()})

    def script(self, code: str) -> Any:
        """What a JavaScript function of this body returns."""
        return self.ask("POST", "/execute/sync", {"script": code, "args": []})

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def window(self, width: int, height: int) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )

    def prefer(self, **features: str) -> None:
        """Media features such as prefers_color_scheme="dark"."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=named)

    def pointer(self, *actions: dict[str, Any]) -> None:
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self.ask("POST", "/actions", {"actions": [mouse | {"actions": list(actions)}]})

    def press(self, keys: str) -> None:
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})

    def console(self) -> list[str]:
        """What was logged since it was last asked for."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(b64decode(self.ask("GET", "/screenshot")))


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser of one's own, with a fresh profile under ``folder``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "chromedriver.log").open("w") as log:
        driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/status", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        browser = Browser(address, folder / "profile")
        try:
            yield browser
        finally:
            browser.ask("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()
