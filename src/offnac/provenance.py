"""Which versions made a result, and when."""

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("offnac", "jax", "jaxlib", "equinox", "optax", "numpy", "gymnax", "gymnasium")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
