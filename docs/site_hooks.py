"""What the site needs beyond Markdown: files outside docs/, formulas without a script, quiet docstrings."""

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r"(\]\(|src=\")\.\./([^)#\"]+)")
"""A link from a page to a file of the repository, which the page and the site name differently."""
MATHEMATICS = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', flags=re.DOTALL)
ROLE = re.compile(r":(?:func|class|meth|mod):(?=<code>|<a )")
"""What Sphinx would read before a name in a docstring."""


def on_config(config: Any) -> Any:
    """A page of results that nobody has measured yet is not in the menu."""
    config.nav = _there(config.nav)
    return config


def _there(entries: list[Any]) -> list[Any]:
    kept = []
    for entry in entries:
        ((title, where),) = entry.items()
        if isinstance(where, list):
            kept.append({title: _there(where)})
        elif any((folder / where).exists() for folder in (ROOT, ROOT / "docs")):
            kept.append(entry)
    return kept


def on_files(files: Files, config: Any) -> Files:
    """Take into the site what its pages link to outside docs/, under its path in the repository."""
    wanted = {"CHANGELOG.md", "CONTRIBUTING.md"}
    for page in files.documentation_pages():
        wanted |= {name.rstrip("/") for _, name in OUTSIDE.findall(page.content_string)}
    for name in sorted(wanted):
        path = ROOT / name
        if path.is_dir():
            files.append(File.generated(config, f"{name}/index.html", content=_listing(path)))
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            uri = each.relative_to(ROOT).as_posix()
            if each.is_file() and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(each)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The site's root is the repository's and docs/ in one."""

    def inside(found: re.Match[str]) -> str:
        folder = (ROOT / found[2]).is_dir()
        return found[1] + found[2].rstrip("/") + ("/index.html" if folder else "")

    return OUTSIDE.sub(inside, markdown).replace("](docs/", "](")


def _listing(folder: Path) -> str:
    """A folder as a page of links."""
    names = (each.relative_to(folder).as_posix() for each in sorted(folder.rglob("*")) if each.is_file())
    links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
    return f"<!doctype html><meta charset=utf-8><title>{folder.name}</title><ul>{links}</ul>"


def on_page_content(html: str, **_: Any) -> str:
    html = MATHEMATICS.sub(_mathml, html)
    return ROLE.sub("", html)


def on_post_page(output: str, **_: Any) -> str:
    """The theme would fetch this script from elsewhere."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "assets/file-worker.js")


def _mathml(found: re.Match[str]) -> str:
    """TeX as MathML, which every browser of today draws by itself."""
    tex = unescape(found[2].strip())
    if found[1] == "span":
        return convert(tex)
    return f'<div class="formula">{convert(tex, display="block")}</div>'
