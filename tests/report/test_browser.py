"""The page in a real Chromium: quiet, its curves and tables answer, it fits a phone and the night."""

import json
import re

import pytest

pytestmark = pytest.mark.browser

ENTER, ESCAPE, RIGHT = "\ue007", "\ue00c", "\ue014"
FIRST = "document.querySelector('figure.chart')"


@pytest.fixture
def page(browser, report):
    """The page as it opens on a desktop by day."""
    browser.window(1280, 900)
    browser.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    browser.open(report)
    return browser


def middle(browser, element):
    """Scroll to an element; where its middle is then."""
    place = browser.script(
        f"const node = {element}; node.scrollIntoView({{block: 'center'}});"
        "const box = node.getBoundingClientRect();"
        "return {x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width};"
    )
    return round(place["x"]), round(place["y"]), place["width"]


def move(x, y):
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}


DOWN, UP = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}


def click(browser, element):
    x, y, _ = middle(browser, element)
    browser.pointer(move(x, y), DOWN, UP)


def curves(browser):
    return browser.script(f"return [...{FIRST}.querySelectorAll('path.curve')].map((p) => p.dataset.name)")


def shown(browser):
    return browser.script(f"return {FIRST}.querySelector('.readout').textContent")


def test_it_loads_without_a_word_and_asks_for_nothing(page):
    assert page.console() == []
    assert page.script("return document.querySelectorAll('.plot > svg').length") == 10
    loaded = page.script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name.slice(0, 5))"
    )
    assert set(loaded) <= {"data:"}


def test_a_curve_that_is_pointed_at_shows_its_value(page):
    assert shown(page) == ""
    x, y, _ = middle(page, f"{FIRST}.querySelector('.plot > svg')")
    page.pointer(move(x, y))
    words = shown(page)
    episode = int(re.match(r"training episode (\d+)", words)[1])
    data = json.loads(page.script(f"return {FIRST}.querySelector('script').textContent"))
    for series in data["series"]:
        value = series["bands"]["average_published"][0][series["x"].index(episode)]
        assert f"{series['name']}{value:.1f}".removesuffix(".0") in words
    assert page.script(f"return {FIRST}.querySelectorAll('.dot').length") == len(data["series"])
    page.pointer(move(2, 2))
    assert shown(page) == ""


def test_the_other_running_average_can_be_read_as_well(page):
    x, y, _ = middle(page, f"{FIRST}.querySelector('.plot > svg')")
    page.pointer(move(x, y))
    before = shown(page)
    click(page, "document.querySelector('input[data-variant=average_printed]')")
    x, y, _ = middle(page, f"{FIRST}.querySelector('.plot > svg')")
    page.pointer(move(x, y))
    assert shown(page).split("AC")[0] == before.split("AC")[0]
    assert shown(page) != before


def test_a_legend_entry_switches_its_curve(page):
    everything = curves(page)
    assert everything == ["AC published", "AC robust", "NAC published", "NAC robust"]
    first = f"{FIRST}.querySelector('.legend button')"
    click(page, first)
    assert curves(page) == everything[1:]
    assert page.script(f"return {first}.getAttribute('aria-pressed')") == "false"
    page.script(f"{first}.focus()")
    page.press(ENTER)
    assert curves(page) == everything
    assert page.script(f"return {first}.getAttribute('aria-pressed')") == "true"


def test_a_preset_switches_its_curves_everywhere(page):
    click(page, "document.querySelector('input[data-group=published]')")
    names = page.script("return [...document.querySelectorAll('path.curve')].map((p) => p.dataset.name)")
    assert len(names) == 20
    assert all(name.endswith("robust") for name in names)


def test_the_keyboard_reads_and_zooms(page):
    chart = f"{FIRST}.querySelector('.plot > svg')"
    labels = f"return [...{FIRST}.querySelectorAll('.plot text')].map((text) => text.textContent).join()"
    reset = f"return {FIRST}.querySelector('.reset').hidden"
    before = page.script(labels)
    page.script(f"{chart}.focus()")
    page.press(RIGHT)
    assert shown(page).startswith("training episode")
    page.press("+")
    assert page.script(labels) != before
    assert page.script(reset) is False
    page.press(ESCAPE)
    assert page.script(labels) == before
    assert page.script(reset) is True


def test_dragging_zooms_and_a_double_click_shows_everything(page):
    labels = f"return [...{FIRST}.querySelectorAll('.plot text')].map((text) => text.textContent).join()"
    before = page.script(labels)
    x, y, width = middle(page, f"{FIRST}.querySelector('.plot > svg')")
    page.pointer(move(x - width / 5, y), DOWN, move(x, y), move(x + width / 5, y), UP)
    assert page.script(labels) != before
    page.pointer(move(x, y), DOWN, UP, DOWN, UP)
    assert page.script(labels) == before
    assert page.console() == []


def test_a_table_sorts_by_the_header_that_is_clicked(page):
    head = "[...document.querySelectorAll('table.sortable thead th')].find((th) => th.textContent === 'Ours')"
    values = (
        f"const at = {head}.cellIndex; return [...document.querySelector('table.sortable').tBodies[0].rows]"
        ".map((row) => Number(row.cells[at].dataset.sort))"
    )
    before = page.script(values)
    click(page, f"{head}.querySelector('button')")
    assert page.script(values) == sorted(before, reverse=True) != before
    assert page.script(f"return {head}.getAttribute('aria-sort')") == "descending"
    page.press(ENTER)
    assert page.script(values) == sorted(before)
    assert page.script(f"return {head}.getAttribute('aria-sort')") == "ascending"
    click(page, "document.querySelector('table.sortable thead th button')")
    names = page.script(
        "return [...document.querySelector('table.sortable').tBodies[0].rows]"
        ".map((row) => row.cells[0].textContent)"
    )
    assert names == sorted(names)


def test_what_has_no_number_sorts_last(page):
    name = "Episodes to the paper"
    head = (
        f"[...document.querySelectorAll('table.sortable thead th')].find((th) => th.textContent === '{name}')"
    )
    for _ in range(2):
        page.script(f"{head}.querySelector('button').click()")
        there = page.script(
            f"return [...document.querySelector('table.sortable').tBodies[0].rows]"
            f".map((row) => 'sort' in row.cells[{head}.cellIndex].dataset)"
        )
        assert there == sorted(there, reverse=True)
        assert False in there and True in there


def test_it_fits_a_phone(page):
    page.window(375, 812)
    page.script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.script("return document.documentElement.scrollWidth") <= 375
    assert page.script("return document.querySelector('.plot > svg').getBoundingClientRect().right") <= 375
    tables = page.script(
        "return [...document.querySelectorAll('.wide')].map((box) => box.getBoundingClientRect().right)"
    )
    assert max(tables) <= 375


def test_it_is_dark_where_that_is_preferred(page):
    colours = "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    paper, ink = page.script(colours)
    page.prefer(prefers_color_scheme="dark")
    dark_paper, light_ink = page.script(colours)
    assert (paper, dark_paper) == ("rgb(255, 255, 255)", "rgb(20, 24, 31)")
    assert ink != light_ink
    assert (
        page.script("return getComputedStyle(document.querySelector('path.curve')).stroke")
        == "rgb(242, 163, 58)"
    )


def test_films_pause_and_stand_still_where_nothing_shall_move(page, report):
    seen = (
        "const film = document.querySelector('figure.film'); return ['moving', 'still']"
        ".map((name) => getComputedStyle(film.querySelector('.' + name)).display !== 'none')"
    )
    assert page.script(seen) == [True, False]
    click(page, "document.querySelector('figure.film button')")
    assert page.script(seen) == [False, True]
    page.prefer(prefers_reduced_motion="reduce")
    page.open(report)
    assert page.script(seen) == [False, True]
    assert page.script("return document.querySelector('figure.film button').textContent") == "Play"
