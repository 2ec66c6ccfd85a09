"""The document around a report: one file with everything in it, that asks nothing of any network."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from offnac import files
from offnac.report.numbers import duration

HERE = Path(__file__).parent

# Nothing may be fetched, not even by mistake: scripts and styles are those in the page, images are data.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


class Section(NamedTuple):
    """``name`` is the address within the page; ``body`` is HTML."""

    name: str
    title: str
    body: str


def document(
    title: str, introduction: str, sections: Sequence[Section], footer: str = "", live: str = ""
) -> str:
    """A whole page of the sections that have a body. ``introduction`` and ``footer`` are HTML, as the bodies
    are. ``live`` is the state that the page shows, where a server tells of the next one."""
    sections = [section for section in sections if section.body]
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
<meta http-equiv="Content-Security-Policy" content="{POLICY}{"; connect-src 'self'" if live else ""}">
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
{_live(live)}</body>
</html>
"""


def _live(state: str) -> str:
    if not state:
        return ""
    return f'<script data-state="{escape(state)}">\n{_part("live.js")}</script>\n'


def tile(name: str, value: str, what: str, kind: str = "") -> str:
    """One number that matters; ``kind`` is good or bad."""
    return (
        f'<div class="tile"><p>{escape(name)}</p><b class="{kind}">{escape(value)}</b>'
        f'<p class="quiet">{escape(what)}</p></div>'
    )


def run_settings(run: dict[str, Any]) -> str:
    """What was asked of a run; and all that it was run with, for those who want to know."""
    everything = settings(run["settings"])
    return f"{settings(run['request'])}\n<details><summary>Every setting</summary>{everything}</details>"


def provenance(run: dict[str, Any]) -> str:
    """What run.json says of how a run was made."""
    seeds = run["seeds"]
    return facts(
        [
            ("date", run["date"]),
            ("seeds", f"{seeds[0]} to {seeds[-1]} ({len(seeds)})"),
            ("time", duration(run["seconds"])),
            ("device", run.get("device") or "unknown"),
            *run["versions"].items(),
        ]
    )


def signature(of: dict[str, Any]) -> str:
    """The footer of a page about ``of``, which says when and by which version it was made."""
    return (
        f"<p>Written by offnac {escape(of['versions'].get('offnac', ''))}, {escape(of['date'][:10])}. "
        "Everything is in this one file.</p>"
    )


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
