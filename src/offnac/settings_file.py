"""Settings by name in a JSON file, as ``tune`` writes them and ``train`` and ``learn`` take them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from offnac import files
from offnac.errors import UserError

FORMAT = "offnac-settings"


def write_settings(
    path: Path, command: str, settings: Mapping[str, Any], provenance: Mapping[str, Any]
) -> None:
    """``command`` is the one that takes them."""
    files.write_json(path, {"format": FORMAT, "for": command, "settings": settings, "provenance": provenance})


def read_settings(source: Mapping[str, Any] | Path | str, command: str) -> dict[str, Any]:
    """Names and values, as JSON has them; a file may also hold nothing but these."""
    if isinstance(source, Mapping):
        return {name: list(value) if isinstance(value, tuple) else value for name, value in source.items()}
    found = files.read_json(Path(source))
    if not isinstance(found, dict):
        raise UserError(
            f'{source} should hold settings by name, such as {{"kl": 0.001}}, but it holds something else'
        )
    if found.get("format") != FORMAT:
        return found
    if found.get("for") != command or not isinstance(found.get("settings"), dict):
        raise UserError(
            f"{source} should hold settings for offnac {command}, but they are for offnac {found.get('for')}"
        )
    return dict(found["settings"])
