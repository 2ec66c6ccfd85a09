"""What the doctor finds, and what it says when something is wrong."""

import sys

import pytest
from rich.console import Console

from offnac import console, installation


def test_a_sound_installation_has_no_problems(tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    monkeypatch.setattr(installation, "NVIDIA", tmp_path / "nothing")
    found = installation.doctor()
    assert found["problems"] == []
    assert found["versions"].keys() >= {"python", "jax", "numpy"}
    assert found["devices"]
    assert found["cache"] == {"folder": str(tmp_path / "programs"), "writable": True, "programs": 0}


def test_every_extra_of_the_project_is_explained_or_not_for_users():
    assert set(installation._requirements()) - {"dev", "docs"} == set(installation.EXTRAS)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(installation, "_installed", lambda package: package != "optuna")
    extras = installation._extras()
    assert extras["tune"]["missing"] == ["optuna"]
    assert extras["tune"]["install"] == "pip install 'offnac[tune]'"
    assert extras["video"]["missing"] == []


def test_problems_say_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "file" / "programs"))
    monkeypatch.setattr(installation, "NVIDIA", tmp_path / "file")
    gpu, cache = installation.doctor()["problems"]
    assert "pip install 'offnac[gpu]'" in gpu
    assert "set XDG_CACHE_HOME" in cache
    monkeypatch.setitem(sys.modules, "jax", None)
    found = installation.doctor()
    assert found["devices"] == []
    assert found["problems"][0].startswith("JAX does not start")


@pytest.mark.parametrize("terminal", [True, False])
def test_colour_is_for_terminals_only_and_not_for_those_who_want_none(terminal, monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    result = installation.doctor() | {"problems": ["trouble [here]; do that"]}
    for refuse in (False, True):
        if refuse:
            monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(console.screen, "OUT", Console(force_terminal=terminal, width=80))
        console.show_doctor(result)
        printed = capsys.readouterr().out
        assert ("\x1b[31m" in printed) == (terminal and not refuse)
        assert "trouble [here]; do that" in printed
    assert terminal or "\x1b" not in printed
    assert "…" not in printed, "80 columns are enough"
