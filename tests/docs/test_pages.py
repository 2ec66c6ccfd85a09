"""The pages: their links lead somewhere, and what they show of results comes from the result files."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import offnac

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"(?:\]\(|src=\")([^)#\"]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_result_pages_come_from_the_result_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    for name, page in import_module("generate").PAGES.items():
        assert (ROOT / "docs" / name).read_text() == page(), f"docs/{name} is not what `make docs` writes"


def test_the_reference_has_every_public_name() -> None:
    named = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text(), flags=re.MULTILINE)
    missing = set(offnac.__all__) - {name.rpartition(".")[2] for name in named}
    assert not missing, f"docs/api.md lacks {missing}"
