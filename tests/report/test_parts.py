"""The parts that pages are made of: tables, charts, number lines, colours."""

import json
import re

import numpy as np
import pytest

from offnac.report import numbers, page, strip, table
from offnac.report.chart import Chart, Level, Series
from offnac.report.curves import Band


def test_numbers_have_a_true_minus_and_narrow_gaps():
    assert numbers.plain(-12345.678) == "−12\u202f345.7"
    assert numbers.plain(None) == numbers.plain(float("nan")) == "–"
    assert numbers.interval(-2, 3, 0) == "−2 to 3"
    assert [numbers.duration(seconds) for seconds in (5, 120, 7200)] == ["5 s", "2 min", "2.0 h"]


def test_a_table_escapes_texts_and_keeps_exact_numbers_for_sorting():
    html = table.table(
        "a & b", [table.Column("x"), table.Column("y", True)], [["<script>", table.number(-1.25)]]
    )
    assert "&lt;script&gt;" in html and "a &amp; b" in html
    assert '<th scope="row">&lt;script&gt;</th>' in html
    assert '<td class="number" data-sort="-1.25">−1.2</td>' in html
    assert "data-sort" not in table.table("", [table.Column("x", True)], [[table.number(None)]])


def test_a_strip_stays_in_its_box():
    drawn = strip.strip([-5, 0.5, 9, float("nan")], 0, 1, mark=0.5, interval=(0.2, 0.4), label="a<b")
    places = [float(place) for place in re.findall(r'(?:cx|x1|x2)="([\d.]+)"', drawn)]
    assert drawn.count("<circle") == 3
    assert min(places) >= strip.MARGIN
    assert max(places) <= strip.WIDTH - strip.MARGIN
    assert 'aria-label="a&lt;b"' in drawn
    assert 'cx="60.0"' in strip.strip([3], 3, 3, label="one value")


def test_a_chart_carries_its_data_and_nothing_that_could_end_it():
    band = Band(
        np.array([1, 2]), np.array([1.0, np.nan]), np.array([0.123456789, -np.inf]), np.array([2.0, 3.0])
    )
    chart = Chart("t", "x", "y", [Series("</script><b>", {"v": band}, group="g")], (Level("paper", 7.0),))
    html = chart.html()
    inside = html.split('<script type="application/json">')[1].split("</script>")[0]
    data = json.loads(inside)
    assert data["series"][0]["name"] == "</script><b>"
    assert data["series"][0]["bands"]["v"] == [[1.0, None], [0.12346, None], [2.0, 3.0]]
    assert data["levels"] == [{"name": "paper", "y": 7.0, "colour": 0}]


def test_settings_are_laid_flat_under_dotted_names():
    html = page.settings({"a": {"b": [1, 2], "c": None}, "d": "<", "e": []})
    assert "<dt>a.b</dt><dd>1, 2</dd>" in html
    assert "<dt>a.c</dt><dd>none</dd>" in html
    assert "<dt>d</dt><dd>&lt;</dd>" in html


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_reach_contrast_aa(scheme):
    """WCAG 2: 4.5 for text, 3 for what is drawn."""
    css = (page.HERE / "page.css").read_text()
    colours = dict(
        re.findall(r"--([\w-]+): (#[0-9a-f]{6})", css.split("@media (prefers-color-scheme: dark)")[0])
    )
    if scheme == "dark":
        dark = css.split("@media (prefers-color-scheme: dark)")[1].split("\n}")[0]
        changed = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark))
        assert set(changed) == set(colours)
        colours = changed
    for behind in ("paper", "raised"):
        for text in ("ink", "quiet", "link", "good", "bad"):
            assert contrast(colours[text], colours[behind]) >= 4.5, (text, behind)
        for drawn in (name for name in colours if name.startswith("series")):
            assert contrast(colours[drawn], colours[behind]) >= 3, (drawn, behind)
