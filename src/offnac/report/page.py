"""The document around a report: one file with everything in it, that asks nothing of any network."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from offnac import files

HERE = Path(__file__).parent

# Nothing may be fetched, not even by mistake: scripts and styles are those in the page, images are data.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


class Section(NamedTuple):
    """``name`` is the address within the page; ``body`` is HTML."""

    name: str
    title: str
    body: str


def document(title: str, introduction: str, sections: list[Section], footer: str = "") -> str:
    """A whole page. ``introduction`` and ``footer`` are HTML, as the sections' bodies are."""
    links = "".join(f'<li><a href="#{section.name}">{escape(section.title)}</a></li>' for section in sections)
    bodies = "\n".join(
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">\n'
        f'<h2 id="{section.name}-title">{escape(section.title)}</h2>\n{section.body}\n</section>'
        for section in sections
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{_part("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
{introduction}
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main>
{bodies}
</main>
<footer>{footer}</footer>
<script>
{_part("page.js")}</script>
<script>
{_part("chart.js")}</script>
</body>
</html>
"""


def save(path: Path, html: str) -> Path:
    with files.replacing(path) as temporary:
        temporary.write_text(html, encoding="utf-8")
    return path


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values in two columns."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def settings(values: dict[str, Any]) -> str:
    """Nested settings, each under its dotted name."""
    return facts(_flat("", values))


def _flat(prefix: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, inner)
    elif isinstance(value, list):
        yield prefix, ", ".join(str(item) for item in value) or "none"
    else:
        yield prefix, "none" if value is None else value


def _part(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
