"""Settings are frozen dataclasses that are also pytrees.

A number in them (a rate, a discount, a bound) is a traced leaf, so a changed
number never recompiles; what shapes the program (sizes, names, choices) is
declared with :func:`static` and is part of the compiled program's identity.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


def static(default: Any = ...) -> Any:
    """A field that shapes the program instead of flowing through it."""
    if default is ...:
        return field(metadata={"static": True})
    return field(default=default, metadata={"static": True})


@dataclass_transform(frozen_default=True, field_specifiers=(static, field))
def settings(cls: type[T]) -> type[T]:
    """Make ``cls`` a frozen dataclass whose instances are pytrees."""
    return jax.tree_util.register_dataclass(dataclass(frozen=True)(cls))


def describe(value: Any) -> Any:
    """Settings as plain JSON values, for provenance and to compare two runs."""
    if is_dataclass(value) and not isinstance(value, type):
        members = {f.name: describe(getattr(value, f.name)) for f in fields(value)}
        return {"type": type(value).__name__, **members}
    if isinstance(value, dict):
        return {name: describe(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value
