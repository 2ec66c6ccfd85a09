"""Did you mean …? What a misspelt name may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names that ``name`` comes close to, whatever its case; the closest first."""
    lowered: dict[str, list[str]] = {}
    for one in known:
        lowered.setdefault(one.lower(), []).append(one)
    close = get_close_matches(name.lower(), lowered, n=most)
    return [one for match in close for one in lowered[match]][:most]


def did_you_mean(name: str, known: Iterable[str], otherwise: str, most: int = 1) -> str:
    """A question, or ``otherwise`` where nothing known is near."""
    close = " or ".join(f"'{one}'" for one in nearest(name, known, most))
    return f"did you mean {close}?" if close else otherwise
