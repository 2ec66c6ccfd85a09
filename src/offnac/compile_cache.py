"""Compiled programs kept between starts, so that the second start of the same shapes compiles nothing."""

import hashlib
import os
import platform
from pathlib import Path


def enable() -> None:
    """Tell JAX, before it is imported, where to keep programs; a cache that is named already stays."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "offnac" / "programs" / _processor()


def _processor() -> str:
    """A name for this kind of processor: a program made for another may not run here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        kind = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        kind = platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(kind.encode()).hexdigest()[:12]}"
