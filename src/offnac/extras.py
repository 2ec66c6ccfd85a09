"""Packages that only some people need: imported when they are asked for, missed in one sentence."""

from importlib import import_module
from typing import Any

from offnac.errors import UserError


def load(module: str, what: str, extra: str) -> Any:
    """Import a module of the extra that ``what`` needs."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UserError(
            f"{what} the package {package}, which is not installed; "
            f"install it with: pip install 'offnac[{extra}]'"
        ) from error
