"""Is everything here that offnac needs? Versions, devices, extras, and where programs are kept."""

import os
import re
import tempfile
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from offnac import compile_cache
from offnac.provenance import versions

EXTRAS = {
    "gpu": "JAX on an NVIDIA GPU",
    "minari": "Minari datasets as logs",
    "onnx": "offnac export",
    "tensorboard": "--track tensorboard",
    "tune": "offnac tune",
    "video": "offnac watch --out FILM.mp4",
    "wandb": "--track wandb",
}
"""What each extra is for, in the order they are shown; dev is for those who change offnac itself."""
NVIDIA = Path("/dev/nvidiactl")


def doctor() -> dict[str, Any]:
    """What is here, what is missing for which extra, and ``problems`` with what to do about them."""
    problems: list[str] = []
    return {
        "versions": versions(),
        "devices": _devices(problems),
        "extras": _extras(),
        "cache": _cache(problems),
        "problems": problems,
    }


def _devices(problems: list[str]) -> list[str]:
    try:
        import jax

        found = [f"{device.platform}: {device.device_kind}" for device in jax.devices()]
    except Exception as error:  # whatever a broken installation throws is what is to be told
        problems.append(f"JAX does not start ({' '.join(str(error).split())}); install it again")
        return []
    if NVIDIA.exists() and not any(one.startswith(("gpu", "cuda")) for one in found):
        problems.append("there is an NVIDIA GPU that JAX does not use; pip install 'offnac[gpu]' lets it")
    return found


def _extras() -> dict[str, dict[str, Any]]:
    needed = _requirements()
    return {
        name: {
            "for": what,
            "missing": [package for package in needed.get(name, ()) if not _installed(package)],
            "install": f"pip install 'offnac[{name}]'",
        }
        for name, what in EXTRAS.items()
    }


def _requirements() -> dict[str, list[str]]:
    """The packages of each extra; an extra of theirs, such as jax[cuda13], counts by its plugin."""
    found: dict[str, list[str]] = {}
    for line in requires("offnac") or ():
        if (extra := re.search(r"extra == ['\"]([\w-]+)['\"]", line)) is not None:
            name = re.split(r"[\[<>=!~; ]", line)[0]
            plugin = line.startswith("jax[cuda13]")
            found.setdefault(extra[1], []).append("jax-cuda13-plugin" if plugin else name)
    return found


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _cache(problems: list[str]) -> dict[str, Any]:
    """Where compiled programs are kept, so that the second start compiles nothing."""
    folder = Path(os.environ.get("JAX_COMPILATION_CACHE_DIR") or compile_cache.folder())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            writable = True
    except OSError:
        writable = False
        problems.append(
            f"{folder} cannot be written to, so that every start compiles anew; set XDG_CACHE_HOME to a "
            "folder that can"
        )
    programs = sum(1 for path in folder.glob("*") if path.is_file()) if writable else 0
    return {"folder": str(folder), "writable": writable, "programs": programs}
