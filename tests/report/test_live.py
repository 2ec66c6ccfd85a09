"""Running work as a page that is served: to this machine only, to read only, and always the newest."""

import shutil
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from threading import Thread

import pytest

from offnac.errors import UserError
from offnac.report import folder, live


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(live, "AT_MOST", 0.0)


@pytest.fixture
def under_way(trained, tmp_path):
    """A run whose seeds have not finished."""
    run = shutil.copytree(trained, tmp_path / "run")
    for seed in (0, 1):
        (run / f"seed-{seed}" / "result.json").unlink()
    return run


@contextmanager
def serving(run):
    with live.server(run, folder.of(run)[1], 0) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def ask(address, method="GET", **headers):
    request = urllib.request.Request(address, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_the_page_tells_of_news(under_way):
    with serving(under_way) as address:
        status, html = ask(f"{address}/")
        assert (status, "How far it is" in html) == (200, True)
        state = ask(f"{address}/state")[1]
        assert f'data-state="{state}"' in html
        assert ask(f"{address}/state")[1] == state
        (under_way / "seed-1" / "episodes.parquet").touch()
        assert ask(f"{address}/state")[1] != state
        (under_way / "run.json").unlink()
        status, html = ask(f"{address}/")
        assert (status, "run.json is not there" in html) == (200, True)


@pytest.mark.parametrize(
    "path", ["/run.json", "/../run.json", "/..%2f..%2fetc/passwd", "//etc/passwd", "/state/", "/?a=1"]
)
def test_nothing_but_the_page_can_be_asked_for(under_way, path):
    with serving(under_way) as address:
        assert ask(address + path)[0] == 404


def test_only_this_machine_by_its_own_name_is_answered_and_nothing_can_be_changed(under_way):
    with serving(under_way) as address:
        assert ask(f"{address}/state", Host="evil.example")[0] == 403
        assert ask(f"{address}/", method="POST")[0] == 501
    with live.server(under_way, folder.of(under_way)[1], 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_refused_in_a_sentence(under_way):
    document = folder.of(under_way)[1]
    with serving(under_way) as address, pytest.raises(UserError, match="choose another --port"):
        live.server(under_way, document, int(address.rpartition(":")[2]))
    with pytest.raises(UserError, match="from 0 to 65535"):
        live.server(under_way, document, 70000)


@pytest.mark.browser
def test_a_page_in_a_browser_refreshes_by_itself(browser, under_way):
    state = "return document.querySelector('script[data-state]').dataset.state"
    with serving(under_way) as address:
        browser.ask("POST", "/url", {"url": f"{address}/"})
        before = browser.script(state)
        (under_way / "seed-1" / "episodes.parquet").touch()
        for _ in range(300):
            if browser.script(state) != before:
                break
            time.sleep(0.1)
        assert browser.script(state) != before
        assert browser.console() == []
