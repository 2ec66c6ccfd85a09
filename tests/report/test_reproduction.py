"""One page with everything in it, and nothing outside it."""

import json
import re
from html.parser import HTMLParser

import pytest

from offnac.errors import UserError
from offnac.report import reproduction
from offnac.report.choice import middle_seed

VOID = {"meta", "link", "img", "br", "input", "line", "circle"}


class Outline(HTMLParser):
    """Elements must nest; what they refer to is collected."""

    def __init__(self):
        super().__init__()
        self.open, self.sources, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.sources += [values[name] for name in ("src", "href", "srcset") if name in values]
        self.ids += [values["id"]] if "id" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html(report):
    return report.read_text(encoding="utf-8")


@pytest.fixture
def small(invented, tmp_path):
    return invented(tmp_path, seeds=3, episodes=10, presets=("robust",), policies=())


def change(out, **changes):
    summary = json.loads((out / "summary.json").read_text())
    (out / "summary.json").write_text(json.dumps(summary | changes))


def test_the_page_is_sound_and_refers_to_nothing_outside(html):
    outline = Outline()
    outline.feed(html)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert all(source.startswith(("data:", "#")) for source in outline.sources)
    assert {source[1:] for source in outline.sources if source.startswith("#")} <= set(outline.ids)
    assert "default-src 'none'" in html
    assert len(html) < 2_000_000


def test_every_cell_has_its_row_its_curve_and_its_settings(html, reproduction):
    summary = json.loads((reproduction / "summary.json").read_text())
    assert html.count('<figure class="chart"') == 10
    assert html.count("<details><summary>") == len(summary["cells"]) + 1
    data = [
        json.loads(found) for found in re.findall(r'<script type="application/json">(.*?)</script>', html)
    ]
    assert sum(len(chart["series"]) for chart in data) == len(summary["cells"])
    for cell in summary["cells"]:
        assert f'data-sort="{cell["test"]["iqm"]:.10g}"' in html
        assert f'data-sort="{cell["test"]["worst"]:.10g}"' in html


def test_versions_seeds_and_notes_are_there_and_escaped(html):
    assert "<dt>jax</dt>" in html
    assert "1000 to 1005 (6)" in html
    assert "in a &lt;simulator&gt;." in html
    assert "2026-01-02" in html


def test_there_is_a_film_of_each_task_of_a_middle_seed(html, reproduction):
    assert html.count('<figure class="film">') == 4
    assert html.count('loading="lazy"') == 8
    assert max(len(found) for found in re.findall(r"data:image/gif;base64,[^\"]*", html)) < 400_000 + 30
    assert middle_seed([7, 8, 9], [3.0, 9.0, 1.0]) == 7


def test_without_policies_there_are_no_films(small):
    html = reproduction.write(small).read_text()
    assert '<figure class="film">' not in html
    assert 'href="#policies"' not in html
    assert html.count('<figure class="chart"') == 10
    assert not list(small.glob(".*"))


def test_a_damaged_policy_is_passed_over(small, policy_of):
    folder = small / "runs" / "cartpole-offnac-robust"
    for seed in (1000, 1001, 1002):
        policy_of("CartPole-v1").save(folder / f"seed-{seed}" / "best")
        (folder / f"seed-{seed}" / "best" / "policy.safetensors").write_bytes(b"nonsense")
    assert '<figure class="film">' not in reproduction.write(small).read_text()


def test_an_unmeasured_time_and_an_empty_comparison_are_no_trouble(small):
    cells = json.loads((small / "summary.json").read_text())["cells"]
    change(small, cells=[cell | {"seconds": None} for cell in cells[:1]], improvement=[], notes=[])
    change(small, unfinished=["cartpole-nac-robust"])
    html = reproduction.write(small).read_text()
    assert "cartpole-nac-robust" in html
    assert 'href="#improvement"' not in html
    assert html.count('<figure class="chart"') == 1


def test_what_is_no_reproduction_is_refused_in_a_sentence(small, tmp_path):
    with pytest.raises(UserError, match=r"summary\.json is not there"):
        reproduction.write(tmp_path / "nothing")
    change(small, cells=[])
    with pytest.raises(UserError, match="no finished run yet"):
        reproduction.write(small)
    change(small, cells=[{"cell": "cartpole-nac"}])
    with pytest.raises(UserError, match="does not describe a reproduction"):
        reproduction.write(small)
