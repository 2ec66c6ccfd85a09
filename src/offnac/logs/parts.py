"""Which columns of a table play which part."""

import re

from offnac.logs.columns import Columns
from offnac.logs.problems import Problems
from offnac.logs.source import Source
from offnac.suggestions import did_you_mean

REQUIRED = ("observation", "action", "reward")


def find(source: Source, wanted: Columns, problems: Problems) -> dict[str, list[str]]:
    """The names of the columns that play each part; a part that the table lacks is left out."""
    found: dict[str, list[str]] = {}
    declared = {**vars(wanted)}
    declared.pop("actions")
    for part, given in declared.items():
        vector = part.endswith("observation")
        if given is not None:
            names = list(given) if vector else [given]
        elif vector and part not in source.types and f"{part}_0" in source.types:
            numbered = [name for name in source.types if re.fullmatch(rf"{part}_\d+", name)]
            names = [f"{part}_{i}" for i in range(len(numbered))]
        elif part in source.types or part in REQUIRED:
            names = [part]
        else:
            continue
        if absent := [name for name in names if name not in source.types]:
            _missing(part, given is not None, absent, source, problems)
        else:
            found[part] = names
    if "terminated" not in found and "truncated" not in found and "done" in source.types:
        found["terminated"] = ["done"]
        problems.warn("the column done is taken to mean that the task ended (terminated)")
    return found


def _missing(part: str, declared: bool, absent: list[str], source: Source, problems: Problems) -> None:
    there = list(source.types)
    shown = ", ".join(there[:12]) + (", …" if len(there) > 12 else "")
    advice = did_you_mean(absent[0], there, f"the table has {shown}", most=3)
    if not declared:
        advice += f"; --{part.replace('_', '-')} names another"
    problems.error(f"there is no column {', '.join(absent)}; {advice}")
