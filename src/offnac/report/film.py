"""An animation within a page: it can be paused, and stands still where nothing shall move."""

from base64 import b64encode
from html import escape

from offnac.report.animation import Film
from offnac.report.numbers import plain


def film(title: str, caption: str, shown: Film) -> str:
    width, height = shown.pictures[0].size
    size = f'width="{width}" height="{height}" loading="lazy" decoding="async"'
    return (
        '<figure class="film">\n'
        f'<img class="moving" {size} alt="{escape(title)}: {escape(caption)}" '
        f'src="{_inline("gif", shown.gif())}">\n'
        f'<img class="still" {size} alt="{escape(title)}, one moment of it" '
        f'src="{_inline("png", shown.still())}">\n'
        f"<figcaption><strong>{escape(title)}</strong><br>{escape(caption)}</figcaption>\n"
        # Only the script can stop a GIF, so the button appears with it.
        f'<button type="button" hidden aria-label="Pause or play {escape(title)}"></button>\n</figure>'
    )


def caption(shown: Film, whose: str) -> str:
    first = "" if shown.ended else "the first "
    return f"{whose}: return {plain(shown.total, 0)} in {first}{shown.steps} steps"


def _inline(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{b64encode(data).decode()}"
