"""The reproduction end to end, in small: two cells, two presets, two seeds."""

import importlib.util
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from offnac import api, cli, console, files
from offnac.errors import UserError
from offnac.experiments import figures, pool, reproduce
from offnac.experiments.curves import CURVES, running_average
from offnac.experiments.jobs import Settings
from offnac.experiments.publish import publish
from offnac.experiments.summary import SUMMARY
from offnac.training.progress import Stopped

from .conftest import CELLS, PROTOCOL, run

ROOT = Path(__file__).parents[2]
NAMES = ("cartpole-ac", "cartpole-nac")
PRESETS = ("published", "paper")
SETTINGS = Settings(seeds=2, episodes=60, test_episodes=20)


@pytest.fixture
def no_report(monkeypatch):
    """Figures and the page are looked at elsewhere."""
    monkeypatch.setattr(figures, "draw", lambda out: [])
    monkeypatch.setattr(reproduce.report_page, "write", lambda out: None)


def without_times(summary):
    """What must be the same of two reproductions."""
    cells = [{key: cell[key] for key in cell.keys() - {"seconds", "date"}} for cell in summary["cells"]]
    return {**summary, "cells": cells} | dict.fromkeys(("date", "seconds"))


def test_every_cell_and_preset_is_there(summary):
    assert [(cell["cell"], cell["preset"]) for cell in summary["cells"]] == [
        (name, preset) for name in NAMES for preset in PRESETS
    ]
    assert summary["presets"] == list(PRESETS)
    assert summary["seeds"] == [1000, 1001]
    assert summary["unfinished"] == []
    assert summary["settings"] == {"test_episodes": 20, "episodes": 60, "newest": None}
    assert summary["seconds"] > 0
    assert {"offnac", "jax", "python"} <= set(summary["versions"])
    assert "simulator" in " ".join(summary["notes"])
    for cell in summary["cells"]:
        assert cell["seconds"] > 0
        assert cell["settings"]["episodes"] == 60
    assert summary["cells"][0]["paper"] == {"mean": 497.2, "sd": 6.29}


def test_a_run_is_as_train_leaves_it(reproduction, tmp_path):
    result = api.train(
        "CartPole-v1",
        "nac",
        out=tmp_path / "run",
        preset="paper",
        seeds=2,
        first_seed=1000,
        test_episodes=20,
        episodes=60,
        workers=1,
    )
    folder = reproduction / "runs" / "cartpole-nac-paper"
    ours, theirs = (json.loads((path / api.RUN).read_text()) for path in (folder, tmp_path / "run"))
    assert ours["result"]["runs"] == result["runs"]
    assert {key: ours[key] for key in ("request", "seeds", "workers", "settings")} == {
        key: theirs[key] for key in ("request", "seeds", "workers", "settings")
    }
    files = [
        sorted(str(path.relative_to(out)) for path in out.rglob("*")) for out in (folder, tmp_path / "run")
    ]
    assert files[0] == files[1]


def test_the_statistics_are_those_of_the_seeds(reproduction, summary):
    for cell in summary["cells"]:
        folder = reproduction / "runs" / f"{cell['cell']}-{cell['preset']}"
        results = [json.loads((folder / f"seed-{seed}" / "result.json").read_text()) for seed in (1000, 1001)]
        for test in ("test", "final_test"):
            values = [result[test]["mean"] for result in results]
            assert cell[test]["values"] == values
            assert cell[test]["seeds"] == 2
            assert_allclose(cell[test]["iqm"], stats.trim_mean(values, 0.25))
            assert_allclose(cell[test]["median"], np.median(values))
            assert (cell[test]["worst"], cell[test]["best"]) == (min(values), max(values))
            assert min(values) <= cell[test]["low"] <= cell[test]["high"] <= max(values)
        assert cell["meets"] == (cell["test"]["iqm"] >= cell["paper"]["mean"])
        assert cell["per_seed"]["train_steps"] == [result["train_steps"] for result in results]
        assert cell["train_steps"] == sum(result["train_steps"] for result in results)


def test_improvement_is_mann_whitneys(summary):
    assert [(row["pair"], row["preset"]) for row in summary["improvement"]] == [
        ("nac>ac", "published"),
        ("nac>ac", "paper"),
    ]
    values = {(cell["algorithm"], cell["preset"]): cell["test"]["values"] for cell in summary["cells"]}
    for row in summary["improvement"]:
        nac, ac = (values[name, row["preset"]] for name in ("nac", "ac"))
        assert row["probability"] == pytest.approx(stats.mannwhitneyu(nac, ac).statistic / 4)
        assert 0 <= row["low"] <= row["probability"] <= row["high"] <= 1
        assert 0 <= row["final"]["probability"] <= 1


def test_the_curves_have_both_definitions_of_the_average(reproduction, summary):
    table = pq.read_table(reproduction / CURVES)
    assert table.column_names == [
        *("cell", "preset", "seed", "episode", "average"),
        *("average_printed", "average_published", "evaluation_return"),
    ]
    assert table.num_rows == 4 * 2 * 60
    columns = {name: table[name].to_numpy() for name in table.column_names}
    for cell in summary["cells"]:
        for index, seed in enumerate((1000, 1001)):
            rows = (columns["cell"] == cell["cell"]) & (columns["preset"] == cell["preset"])
            rows &= columns["seed"] == seed
            one = {name: column[rows] for name, column in columns.items()}
            assert list(one["episode"]) == list(range(60))
            for name, newest in (("average_printed", 0.9), ("average_published", 0.1)):
                expected = running_average(one["evaluation_return"], newest)
                assert_allclose(one[name], expected, rtol=1e-6)
            as_run = "average_published" if cell["preset"] == "published" else "average_printed"
            assert_allclose(one["average"], one[as_run], rtol=1e-5)
            assert max(one["average"]) == pytest.approx(cell["per_seed"]["best_average"][index])


def test_figures_and_the_page_are_written(reproduction):
    assert list((reproduction / "figures").glob("*.png"))
    assert (reproduction / "report.html").exists()


def test_the_table_for_the_console(summary, capsys):
    console.show_reproduction(summary, Path("out/some"))
    printed = capsys.readouterr().out
    for words in (*NAMES, "the paper: 497.20 ± 6.29", *PRESETS, "below", "P(nac>ac) = ", "out/some"):
        assert words in printed
    assert f"{summary['cells'][0]['test']['iqm']:.1f} [" in printed


def test_finished_runs_are_not_run_again(reproduction, summary, monkeypatch, no_report):
    monkeypatch.setattr(pool.subprocess, "Popen", None)
    status, printed = run(reproduction, "--resume", presets="published,paper")
    assert status == 0
    assert without_times(json.loads(printed)) == without_times(summary)
    status, printed = run(reproduction, "--resume", cells="cartpole-ac")
    assert without_times(json.loads(printed)) == without_times(summary), "all that is in the folder counts"


def test_published_results_are_small_and_make_a_page(reproduction, summary, tmp_path, no_report, monkeypatch):
    status, _ = run(reproduction, "--resume", "--publish", tmp_path / "paper", presets="published,paper")
    assert status == 0
    published = json.loads((tmp_path / "paper" / SUMMARY).read_text())
    assert without_times(published) == without_times(summary)
    assert pq.read_metadata(tmp_path / "paper" / CURVES).num_rows == 4 * 2 * 60
    monkeypatch.syspath_prepend(ROOT / "docs")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = generate.paper(tmp_path / "paper")
    assert "| CartPole-v1 | Deep NAC | the paper | 1 | 498.60 ± 4.90 |" in page
    for cell in summary["cells"]:
        test = cell["test"]
        assert f"| {test['iqm']:.1f} [{test['low']:.1f}, {test['high']:.1f}] | {test['worst']:.1f} |" in page
    assert "Deep NAC > Deep AC" in page
    assert "Off-policy\n" not in page


def test_publishing_some_runs_leaves_the_others(reproduction, summary, tmp_path, no_report):
    target, part = tmp_path / "paper", tmp_path / "part"
    publish(reproduction, target)
    before = pq.read_table(target / CURVES)
    anew = summary["cells"][1] | {"verdict": "anew"}
    files.write_json(part / SUMMARY, summary | {"cells": [anew], "improvement": []})
    table = pq.read_table(reproduction / CURVES)
    mine = [c == anew["cell"] and p == anew["preset"] for c, p in zip(*columns(table), strict=True)]
    pq.write_table(table.filter(pa.array(mine)), part / CURVES)
    publish(part, target)
    found = json.loads((target / SUMMARY).read_text())
    assert found["cells"] == [summary["cells"][0], anew, *summary["cells"][2:]]
    assert found["improvement"] == summary["improvement"], (
        "of runs that are there by now, whoever brought them"
    )
    after = pq.read_table(target / CURVES)
    assert sorted(zip(*columns(after), strict=True)) == sorted(zip(*columns(before), strict=True))


def test_runs_of_another_protocol_are_not_mixed(reproduction, summary, tmp_path, no_report):
    publish(reproduction, tmp_path / "paper")
    some, other = summary | {"cells": summary["cells"][1:]}, {"settings": {"test_episodes": 3}}
    files.write_json(tmp_path / "part" / SUMMARY, some | other)
    shutil.copy(reproduction / CURVES, tmp_path / "part" / CURVES)
    with pytest.raises(UserError, match="another protocol"):
        publish(tmp_path / "part", tmp_path / "paper")
    files.write_json(tmp_path / "part" / SUMMARY, summary | other)
    publish(tmp_path / "part", tmp_path / "paper")  # nothing of the other one is left


def columns(table):
    return table["cell"].to_pylist(), table["preset"].to_pylist()


def test_a_reproduction_that_was_killed_goes_on_as_if_nothing_had_been(summary, tmp_path, no_report):
    """A real kill -9, as soon as there is a first checkpoint; what it began stops by itself."""
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "offnac", "reproduce", "--cells", CELLS, "--presets", "published"]
    process = subprocess.Popen([*command, *PROTOCOL, "--workers", "1", "--out", str(out), "--quiet"])
    deadline = time.monotonic() + 200
    while not list(out.glob("runs/*/seed-*/checkpoint.safetensors")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    partial = json.loads((out / SUMMARY).read_text())
    assert (partial["cells"], len(partial["unfinished"])) == ([], 2)
    assert not list(out.glob("runs/*/seed-1001/result.json"))

    status, printed = run(out, "--resume")
    assert status == 0
    cells = without_times(json.loads(printed))["cells"]
    assert cells == [c for c in without_times(summary)["cells"] if c["preset"] == "published"]


def test_a_reproduction_that_is_asked_to_stop_saves_and_says_so(tmp_path):
    stop, out = Event(), tmp_path / "stopped"

    def report(news):
        if news.share > 0:
            stop.set()

    with pytest.raises(Stopped):
        reproduce.reproduce(
            out=out,
            cells=["cartpole-ac", "cartpole-nac"],
            presets=["published"],
            settings=Settings(seeds=2, episodes=100_000, test_episodes=20),
            workers=1,
            report=report,
            stop=stop,
        )
    partial = json.loads((out / SUMMARY).read_text())
    assert (partial["cells"], partial["unfinished"]) == (
        [],
        ["cartpole-ac-published", "cartpole-nac-published"],
    )
    assert pq.read_metadata(out / CURVES).num_rows == 0
    assert list(out.glob("runs/*/seed-1000/checkpoint.safetensors"))
    assert not [path for path in out.rglob("*") if path.suffix == ".partial"]


def test_ctrl_c_ends_with_how_to_go_on(tmp_path, capsys, monkeypatch):
    def stopped(**_):
        raise Stopped

    monkeypatch.setattr(reproduce, "reproduce", stopped)
    assert cli.main(["reproduce", "--out", str(tmp_path / "out")]) == 130
    assert f"go on with: offnac reproduce --out {tmp_path / 'out'} --resume" in capsys.readouterr().err


def test_a_run_that_fails_takes_no_other_with_it(reproduction, tmp_path, capsys, no_report):
    out = tmp_path / "damaged"
    shutil.copytree(reproduction, out)
    folder = out / "runs" / "cartpole-ac-paper"
    record = json.loads((folder / api.RUN).read_text())
    del record["result"]
    (folder / api.RUN).write_text(json.dumps(record))
    (folder / "seed-1001" / "result.json").unlink()
    (folder / "seed-1001" / "checkpoint.safetensors").write_bytes(b"garbage")
    status, printed = run(out, "--resume", presets="published,paper")
    errors = capsys.readouterr().err
    assert (status, printed) == (2, "")
    assert errors.count("\n") == 1
    assert "1 of 4 runs failed, such as cartpole-ac-paper (the checkpoint" in errors
    assert "does not fit" in (out / "failures" / "cartpole-ac-paper.txt").read_text()
    after = json.loads((out / SUMMARY).read_text())
    assert after["unfinished"] == ["cartpole-ac-paper"]
    assert len(after["cells"]) == 3


def test_an_error_in_a_process_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(pool.sys, "executable", shutil.which("false"))
    with pytest.raises(reproduce.UserError, match=r"1 of 1 runs failed.*ended with status 1"):
        reproduce.reproduce(out=tmp_path / "out", cells=["cartpole-ac"], presets=["paper"], settings=SETTINGS)


BAD = {
    "unknown cell": (["--cells", "cartpole-nca"], "did you mean 'cartpole-nac'?"),
    "no cell": (["--cells", ","], "no cell was chosen"),
    "unknown preset": (["--presets", "published,papr"], "did you mean 'paper'?"),
    "no seeds": (["--seeds", "0"], "at least one seed"),
    "negative seed": (["--first-seed", "-1"], "seeds are whole numbers from 0"),
    "no episodes": (["--episodes", "0"], "at least one training episode"),
    "no test episodes": (["--test-episodes", "0"], "at least one test episode"),
    "newest above 1": (["--newest", "1.5"], "must lie in (0, 1]"),
    "no workers": (["--workers", "0"], "at least one core"),
    "out exists": (["--out", "FOLDER"], "FOLDER exists already; go on in it with --resume"),
    "resume what is no reproduction": (["--out", "FOLDER", "--resume"], "holds no reproduction"),
    "resume a file": (["--out", "FILE", "--resume"], "holds no reproduction"),
    "resume something else": (["--out", "OTHER", "--resume"], "does not describe a reproduction"),
    "resume with another protocol": (
        ["--out", "BEGUN", "--resume", "--test-episodes", "20", "--episodes", "7"],
        "BEGUN was begun with episodes = 60, but now it is 7",
    ),
    "text for a number": (["--seeds", "many"], "a whole number is expected"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_plain_sentence(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool.subprocess, "Popen", None)
    for folder in ("FOLDER", "OTHER", "BEGUN"):
        Path(folder).mkdir()
    Path("FOLDER", "kept").write_text("kept")
    Path("FILE").write_text("kept")
    Path("OTHER", SUMMARY).write_text("[]")
    begun = {"format": "offnac-reproduction", "settings": SETTINGS.protocol}
    Path("BEGUN", SUMMARY).write_text(json.dumps(begun))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    arguments, sentence = BAD[name]
    assert cli.main(["reproduce", "--out", "OUT", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("offnac: ")
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_help_has_an_example_that_parses(capsys):
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--help"])
    example = capsys.readouterr().out.split("Example:\n")[1].split()
    parsed = cli.parser().parse_args(example[1:])
    assert parsed.command == "reproduce"
    assert parsed.cells == ("cartpole-nac",)
