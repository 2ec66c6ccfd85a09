"""Where everything is shown: tables and lines on standard output, news and warnings on standard error."""

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

OUT = Console()
ERR = Console(stderr=True)


def line(text: str) -> None:
    """A line as it is: only a terminal may break it, and nothing in it is markup."""
    OUT.print(text, highlight=False, markup=False, soft_wrap=True)


def new_table(*names: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in names:
        table.add_column(name, no_wrap=True)
    return table


def short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def tell(text: str) -> None:
    """News while work goes on, on standard error."""
    ERR.print(text, highlight=False, markup=False, soft_wrap=True)


def warn(warnings: Iterable[str]) -> None:
    """What a person should know of their data, on standard error."""
    for warning in warnings:
        ERR.print(f"offnac: note: {warning}", highlight=False, markup=False, soft_wrap=True)
