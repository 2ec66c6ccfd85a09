"""Which versions made a result, on what, and when."""

import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("offnac", "jax", "jaxlib", "equinox", "optax", "numpy", "gymnax", "gymnasium")


@cache
def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def device() -> str:
    """What JAX computes on."""
    import jax

    return str(jax.devices()[0].device_kind)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
