"""A table that a click on a header sorts, and that scrolls in its own box where it is too wide."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from offnac.report.numbers import interval, plain


class Column(NamedTuple):
    name: str
    numeric: bool = False
    help: str = ""
    """What a person sees who stays on the header."""
    aside: bool = False
    """Left out on a phone, where the row's name says it in small."""


class Cell(NamedTuple):
    """``sort`` replaces the text where the order is another one; ``html`` is shown as it is."""

    text: str
    sort: float | None = None
    html: str = ""


def number(value: float | None, digits: int = 1) -> Cell:
    return Cell(plain(value, digits), value)


def row_name(text: str, small: str) -> Cell:
    """What names a row, with what else sets it apart where there is no room for a column of its own."""
    return Cell(text, html=f"{escape(text)}<small>{escape(small)}</small>")


def between(low: float, high: float, digits: int = 1) -> Cell:
    return Cell(interval(low, high, digits), low)


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell | str]]) -> str:
    """``caption`` and texts are plain; the first column names its row."""
    heads = "".join(_head(column) for column in columns)
    body = "\n".join(f"<tr>{_row(columns, row)}</tr>" for row in rows)
    return (
        # A box that scrolls must be reachable by keyboard, and then it needs a name.
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}">\n'
        f'<table class="sortable">\n<caption><span>{escape(caption)}</span></caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _head(column: Column) -> str:
    kind = _classes(column)
    title = f' title="{escape(column.help)}"' if column.help else ""
    return f'<th scope="col"{kind}><button type="button"{title}>{escape(column.name)}</button></th>'


def _classes(column: Column) -> str:
    names = [name for name, on in (("number", column.numeric), ("aside", column.aside)) if on]
    return f' class="{" ".join(names)}"' if names else ""


def _row(columns: Sequence[Column], row: Sequence[Cell | str]) -> str:
    cells = []
    for place, (column, cell) in enumerate(zip(columns, row, strict=True)):
        cell = Cell(cell) if isinstance(cell, str) else cell
        sort = f' data-sort="{cell.sort:.10g}"' if cell.sort is not None else ""
        tag = "td" if place else "th"
        scope = "" if place else ' scope="row"'
        cells.append(f"<{tag}{scope}{_classes(column)}{sort}>{cell.html or escape(cell.text)}</{tag}>")
    return "".join(cells)
