"""Any folder as one page: of a run in a simulator, of a run over a log, finished or under way."""

import json
import re
import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose

from offnac import files
from offnac.errors import UserError
from offnac.report import folder, rollouts


def titles(html):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", html)


def charts_of(html):
    """By their titles."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return {chart["title"]: chart for chart in map(json.loads, found)}


def test_a_run_in_a_simulator_has_everything(train_page):
    html = train_page.read_text()
    assert titles(html) == [
        *("Results", "The policy at work", "Learning", "Weights and values", "Settings", "How it was made")
    ]
    charts = charts_of(html)
    assert list(charts) == [
        "Running average of the return",
        "Effective sample size of wρ",
        "Entropy of the policy",
        "wρ of the behaviour’s rows",
        "The critic’s V against rollouts",
    ]
    assert charts["Entropy of the policy"]["series"][0]["x"] == list(range(1, 13))
    counts = charts["wρ of the behaviour’s rows"]["series"][0]["bands"]["count"][0]
    assert_allclose(sum(counts[1:-1:2]), rollouts.ROWS, rtol=1e-3)
    assert "data:image/gif" in html


def test_a_run_over_a_log_has_everything_and_is_held_against_the_simulator(learn_page):
    html = learn_page.read_text()
    assert titles(html) == [
        "What the policy is worth",
        "The policy at work",
        "Learning",
        "Held-out episodes",
        "Weights of the log’s rows",
        "Settings",
        "How it was made",
    ]
    assert "rollouts in tabular-chain" in html
    assert "<h1>offnac from chain.parquet</h1>" in html
    levels = charts_of(html)["Value of the policies on the way"]["levels"]
    assert 0.0 < levels[0]["y"] < 1.0, "the chain pays 1, discounted"


def test_a_log_of_a_task_that_nobody_knows_has_no_simulator(learned, tmp_path):
    run = shutil.copytree(learned, tmp_path / "run")
    description = files.read_json(run / "policy" / "policy.json")
    description["spec"]["name"] = "the clinic"
    files.write_json(run / "policy" / "policy.json", description)
    html = folder.of(run)[1]("")
    assert "there is no simulator to hold them against" in html
    assert "The policy at work" not in titles(html)
    with pytest.raises(UserError, match="made for the clinic"):
        folder.of(run, "CartPole-v1")[1]("")


def test_an_unfinished_run_shows_how_far_it_is(trained, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    for seed in (0, 1):
        (run / f"seed-{seed}" / "result.json").unlink()
    html = folder.of(run)[1]("abc")
    assert titles(html) == ["How far it is", "Learning", "Settings", "How it was made"]
    assert "0 of 2" in html
    assert 'data-state="abc"' in html and "connect-src 'self'" in html
    shutil.rmtree(run / "seed-0")
    shutil.rmtree(run / "seed-1")
    html = folder.of(run)[1]("")
    assert "No episode has ended yet" in html
    assert "connect-src" not in html


def test_an_unfinished_run_over_a_log_shows_how_far_it_is(learned, tmp_path):
    run = shutil.copytree(learned, tmp_path / "run")
    record = files.read_json(run / "run.json")
    del record["result"]
    files.write_json(run / "run.json", record)
    (run / "seed-0" / "candidates.parquet").unlink()
    html = folder.of(run)[1]("")
    assert "4 iterations of 1 seeds so far" in html
    assert titles(html) == ["Learning", "Settings", "How it was made"]


def test_a_reproduction_under_way_can_be_looked_at(reproduction, trained, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(trained, out / "runs" / "cartpole-ac-published")
    summary = files.read_json(reproduction / "summary.json")
    nothing = {"cells": [], "improvement": [], "presets": [], "seeds": []}
    waiting = {"unfinished": ["cartpole-ac-published", "cartpole-nac-published"]}
    files.write_json(out / "summary.json", summary | nothing | waiting)
    html = folder.of(out)[1]("abc")
    assert titles(html) == ["Runs under way", "How it was made"]
    assert "cartpole-nac-published" in html
    with pytest.raises(UserError, match="has no finished run yet"):
        folder.of(out)[1]("")


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(UserError, match="is no folder of offnac train, learn, tune or reproduce"):
        folder.of(tmp_path)
    files.write_json(tmp_path / "run.json", {"format": "somebody else's"})
    with pytest.raises(UserError, match="does not describe a run of offnac"):
        folder.of(tmp_path)
    files.write_json(tmp_path / "run.json", {"format": "offnac-run"})
    with pytest.raises(UserError, match="lacks something that its page needs"):
        folder.of(tmp_path)[1]("")


def test_returns_go_on_where_an_episode_was_cut_short():
    episode = np.array([0, 0, 0, 1, 1])
    terminated = np.array([False, False, True, False, False])
    following = np.array([9.0, 9.0, 9.0, 9.0, 8.0])
    found = rollouts.returns_to_go(episode, np.array([1.0, 2, 4, 1, 1]), terminated, following, 0.5)
    assert_allclose(found, [3.0, 4.0, 4.0, 1 + 0.5 * 5, 1 + 0.5 * 8])


@pytest.mark.browser
@pytest.mark.parametrize("which", ["train_page", "learn_page"])
def test_pages_fit_a_phone_at_night_and_ask_for_nothing(which, browser, request):
    browser.window(375, 812)
    browser.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    browser.open(request.getfixturevalue(which))
    browser.script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert browser.console() == []
    assert browser.script("return document.documentElement.scrollWidth") <= 375
    assert browser.script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
    drawn = browser.script("return document.querySelectorAll('.plot > svg').length")
    assert drawn == browser.script("return document.querySelectorAll('figure.chart').length") > 3
    kinds = "return performance.getEntriesByType('resource').map((one) => one.name.slice(0, 5))"
    assert set(browser.script(kinds)) <= {"data:"}
