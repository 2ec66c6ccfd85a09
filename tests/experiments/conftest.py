"""One tiny reproduction that the tests share."""

import fcntl
import json
from contextlib import redirect_stdout
from io import StringIO

import pytest

from offnac import cli
from offnac.experiments.summary import SUMMARY

CELLS = "cartpole-ac,cartpole-nac"
PROTOCOL = ["--seeds", "2", "--episodes", "60", "--test-episodes", "20"]


def run(out, *options, cells=CELLS, presets="published"):
    """The command: status and what it printed."""
    arguments = ["reproduce", "--cells", cells, "--presets", presets, *PROTOCOL, "--out", str(out), "--json"]
    printed = StringIO()
    with redirect_stdout(printed):
        status = cli.main([*arguments, *map(str, options)])
    return status, printed.getvalue()


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory):
    """The folder of a reproduction of two cells under two presets; test processes share it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    out = shared / "reproduction"
    with open(shared / "reproduction.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            status, printed = run(out, presets="published,paper")
            assert status == 0
            assert json.loads(printed) == json.loads((out / SUMMARY).read_text())
    return out


@pytest.fixture
def summary(reproduction):
    return json.loads((reproduction / SUMMARY).read_text())
