"""The web site: it builds without a warning, its links lead somewhere, and in a real Chromium it asks nothing
of the network, fits a phone, and can be read by day and by night."""

import os
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip(
    "mkdocstrings", reason="the documentation's extra is not installed: pip install 'offnac[docs]'"
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return out


class Names(HTMLParser):
    """What a page links to or loads, and the anchors that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {"", "__top"}
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("script", "img", "link", "iframe", "source"):
            self.loads += [found[name] for name in ("src", "href") if name in found]


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {page: Names(page) for page in site.glob("*.html") if page.name != "404.html"}
    assert len(pages) >= 17
    for page, names in pages.items():
        for load in names.loads:
            assert urlsplit(load).scheme in ("", "data"), f"{page.name} loads {load}"
        for link in names.links + names.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{page.name} links to {link}"
            if target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{page.name} links to {link}"


CONTRAST = Path(__file__).with_name("contrast.js").read_text()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(site: Path, browser: Any, scheme: str) -> None:
    browser.window(375, 812)
    browser.prefer(prefers_color_scheme=scheme)
    for page in sorted(site.glob("*.html")):
        if page.name == "404.html":
            continue
        browser.open(page)
        assert browser.script("return document.documentElement.scrollWidth") <= 375, page.name
        assert browser.script(CONTRAST) == [], page.name
        loaded = browser.script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        assert [name for name in loaded if not name.startswith(("file:", "data:"))] == [], page.name
        assert browser.console() == [], page.name
    paper = browser.script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == (scheme == "dark")


SEARCH = """
const box = document.querySelector(".md-search__input");
box.focus();
box.value = "resume";
box.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
return document.querySelectorAll(".md-search-result__item").length;
"""


@pytest.mark.browser
def test_the_search_answers_on_a_page_from_disk(site: Path, browser: Any) -> None:
    browser.window(1280, 900)
    browser.open(site / "index.html")
    for _ in range(100):  # the index is loaded once the box is used
        if browser.script(SEARCH):
            return
        time.sleep(0.1)
    pytest.fail("the search found nothing")
