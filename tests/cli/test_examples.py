"""The example in each command's help works as typed, one after the other in one folder."""

import json
import re
import shlex

import pytest

from offnac import cli

PARSERS = cli.parser()._subparsers._group_actions[0].choices


def example(name: str) -> list[str]:
    found = re.search(rf"Example:\n  (offnac {name}.*)", PARSERS[name].format_help())
    assert found is not None, f"offnac {name} --help has no example"
    return shlex.split(found[1])[1:]


@pytest.mark.parametrize("name", PARSERS)
def test_help_fits_80_columns_and_ends_with_what_all_commands_share(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = PARSERS[name].format_help()
    assert text.startswith(f"usage: offnac {name}")
    for option in ("--json", "--quiet"):
        assert option in text.split("\noutput:\n")[1]
    told = text.split("\nExample:\n")[0]
    assert all(len(line) <= 80 for line in told.splitlines())


def test_examples_work_as_typed(tmp_path, monkeypatch, capsys, small_fits):
    """In one test, because each stands on those before it."""
    monkeypatch.chdir(tmp_path)
    for name in PARSERS:
        status = cli.main([*example(name), "--json"])
        answer = capsys.readouterr()
        assert status == 0, f"{name}: {answer.err}"
        assert answer.out.count("\n") == 1
        assert isinstance(json.loads(answer.out), dict), f"{name} --json prints one object"
    wanted = ("cartpole.csv", "audit.html", "cartpole.gif", "out/cartpole-nac/report.html", "policy.onnx")
    assert all((tmp_path / one).exists() for one in wanted)
