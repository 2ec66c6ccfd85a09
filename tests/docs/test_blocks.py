"""What the documentation shows must run: every Python block, and every command at a console.

The blocks of a page run in their order, in one folder that holds ``examples/``. A comment above a block makes
its commands small, ``<!-- in the test: learn --iterations 20; collect --steps 500 -->`` (in Python
``steps=22_000 => steps=500``), or says that one is too long or needs another machine,
``<!-- in the test: reproduce parsed only -->``; then it must parse.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from offnac.cli import main, parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- in the test: ([^\n]*) -->\n)?^( *)```(\S*)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE
)
SHOWN = {"text"}
"""Languages of blocks that nobody types: trees, pictures in letters."""


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """(what the test is told, language, contents)"""
    found = BLOCK.findall(page.read_text())
    return [
        (told, language, re.sub(f"^{indent}", "", code, flags=re.M)) for told, indent, language, code in found
    ]


def adjustments(told: str) -> dict[str, str]:
    """By command: what the test adds to it."""
    parts = [part.strip().partition(" ") for part in told.split(";") if part.strip()]
    return {name: extra for name, _, extra in parts}


def run_console(block: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    extra, joined = adjustments(told), block.replace("\\\n", " ")
    lines = joined.splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ ")]
    assert commands, f"a console block without a command after '$ ':\n{block}"
    complaint = next((line for line in lines if line.startswith("offnac: ")), None)
    for typed in commands:
        words = shlex.split(typed, comments=True)
        if words[0] == "offnac":
            run_offnac(words[1:], extra.get(words[1], ""), complaint, capsys)
        elif words[0] == "python":
            subprocess.run([sys.executable, *words[1:], *shlex.split(extra.get("python", ""))], check=True)
        else:
            check(words)


def run_offnac(
    words: list[str], extra: str, complaint: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if extra == "parsed only":
        parser().parse_args(words)
        return
    capsys.readouterr()
    status = main([*words, *shlex.split(extra)])
    said = capsys.readouterr().err
    if complaint is None:
        assert status == 0, f"offnac {shlex.join(words)} says: {said}"
    else:
        assert (status, said.splitlines()[-1]) == (2, complaint)


def check(words: list[str]) -> None:
    """What a test cannot do: it must at least exist."""
    if words[0] == "make":
        subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, check=True, capture_output=True)
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(re.findall(r"offnac\[([\w,]+)\]", words[-1])) <= set(extras), words
    else:
        assert words[0] in {"git", "cd", "export"} or words[0].startswith(".venv/bin/"), words


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: page.name)
def test_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    for told, language, code in blocks(page):
        if included := re.fullmatch(r'--8<-- "(examples/\S+)"\n', code):
            assert (ROOT / included[1]).exists()  # test_examples.py runs it
        elif language == "python":
            for shown, small in (part.split(" => ") for part in told.split("; ") if part):
                assert shown in code, f"{page.name} does not have {shown}"
                code = code.replace(shown, small)
            exec(compile(code, page.name, "exec"), {"__name__": "__main__"})
        elif language == "csv":
            assert (ROOT / "examples" / "records.csv").read_text().startswith(code)
        elif language == "console":
            run_console(code, told, capsys)
        else:
            assert language in SHOWN, f"{page.name} has a block in {language or 'no language'}:\n{code}"
            assert not re.search(r"^(\$ |offnac )", code, flags=re.M), (
                f"this should be a console block:\n{code}"
            )
