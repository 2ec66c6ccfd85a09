"""The page of an audit: everything that was found, safe with any names, and fit for a phone and the night."""

import jax.numpy as jnp
import numpy as np
import pytest

from offnac import audit, read_log
from offnac.networks import MLP
from offnac.report.audit import write
from offnac.saved_policy import Policy
from offnac.transition import Spec


@pytest.fixture(scope="module")
def found():
    """An audit of a table without probabilities, whose names want to be more than text."""
    rng = np.random.default_rng(0)
    rows = 600
    age = rng.normal(50, 10, rows)
    table = {
        "<b>age</b>": age,
        "a feature with a name that is rather long & odd": rng.normal(size=rows),
        "dose": np.where(rng.random(rows) < 1 / (1 + np.exp((50 - age) / 5)), "<i>high</i>", "low"),
        "gain": rng.normal(size=rows),
        "patient": np.arange(rows) // 12,
    }
    log = read_log(table, observation=tuple(table)[:2], action="dose", reward="gain", episode="patient")
    theta = jnp.asarray([0, 0, 0, 0, 9, 0], jnp.float32)
    return audit(log, Policy(MLP(2, (), 2), theta, Spec("records", 2, 2)))


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return write(found, tmp_path_factory.mktemp("audit") / "page.html")


def test_it_says_everything_and_runs_nothing_of_the_data(page, found):
    text = page.read_text()
    assert "<b>age</b>" not in text and "<i>high</i>" not in text
    assert "&lt;b&gt;age&lt;/b&gt;" in text and "&lt;i&gt;high&lt;/i&gt;" in text
    assert f'<b class="{ {"unsupported": "bad", "supported": "good"}.get(found["verdict"], "") }">' in text
    for heading in ("The policy in this log", "Episodes", "Actions", "Observations", "Notes on the log"):
        assert heading in text
    assert found["behaviour"]["model"] == "logistic"
    assert "every weight on this page depends on them" in text


def test_without_a_policy_there_is_no_verdict(found, tmp_path):
    alone = write(
        found | {"policy": None, "verdict": None, "reasons": []}, tmp_path / "page.html"
    ).read_text()
    assert "Verdict" not in alone and "Artificial episodes" not in alone
    assert "Lengths and returns of episodes" in alone


@pytest.mark.browser
def test_it_fits_a_phone_and_the_night(page, browser):
    browser.window(375, 812)
    browser.prefer(prefers_color_scheme="dark")
    browser.open(page)
    assert browser.console() == []
    assert browser.script("return document.querySelectorAll('.plot > svg path.curve').length") == 7
    assert browser.script("return document.documentElement.scrollWidth") <= 375
    right = "return Math.max(...[...document.querySelectorAll('.wide, .plot > svg')].map((box) => {}))"
    assert browser.script(right.format("box.getBoundingClientRect().right")) <= 375
    assert browser.script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
