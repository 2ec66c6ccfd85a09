"""A preset's row with some of its settings changed by name, as a file gives them."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from offnac.errors import UserError
from offnac.suggestions import did_you_mean
from offnac.transition import Spec

T = TypeVar("T")

NONE_OF_THEM = ("model", "ratio_rows")
"""Counts that may be 0."""
SHARES = ("anew", "average", "imagined", "memory", "model_share", "share", "target_rate", "telling")
VECTORS = {"mean": "observed", "scale": "observed", "favour": "chosen from"}
"""Settings with a number for each that is observed, or for each action."""


def changed(row: T, given: Mapping[str, Any], spec: Spec) -> T:
    """The row with these settings; a spec without a name is no task yet, and fits all."""
    hints = get_type_hints(type(row))
    values = {}
    for name, value in given.items():
        if name not in hints:
            advice = did_you_mean(name, hints, f"there are {', '.join(hints)}")
            raise UserError(f"there is no setting '{name}'; {advice}")
        try:
            values[name] = _read(name, value, hints[name])
        except ValueError as error:
            wanted = _wanted(name, hints[name])
            raise UserError(f"the setting {name} should be {wanted}, but it is {value!r}") from error
    unchanged: Any = row
    result: Any = replace(unchanged, **values)
    _require_whole_pieces(result)
    for name, what in VECTORS.items():
        count = spec.actions if name == "favour" else spec.observation_size
        _require_one_each(name, values.get(name), spec, count, what)
    changed_row: T = result
    return changed_row


def _require_whole_pieces(row: Any) -> None:
    if row.batch % row.minibatches:
        raise UserError(
            f"the setting minibatches should divide batch, but they are {row.minibatches} and {row.batch}"
        )
    if (getattr(row, "mean", None) is None) != (getattr(row, "scale", None) is None):
        raise UserError("the settings mean and scale go together, but only one of them is given; give both")


def _require_one_each(
    name: str, numbers: tuple[float, ...] | None, spec: Spec, count: int, what: str
) -> None:
    if numbers is not None and spec.name and len(numbers) != count:
        raise UserError(
            f"the setting {name} should have a number for each of the {count} that are {what}, "
            f"but it has {len(numbers)}"
        )


def _read(name: str, value: Any, hint: Any) -> Any:
    """A value of JSON as the setting's type has it; ValueError where it cannot be."""
    if isinstance(hint, UnionType):
        return None if value is None else _read(name, value, get_args(hint)[0])
    if get_origin(hint) is tuple and isinstance(value, list | tuple):
        return tuple(_read(name, one, get_args(hint)[0]) for one in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is float and number and isfinite(value):
        low, high = (-float("inf") if name == "mean" else 0.0), (1.0 if name in SHARES else float("inf"))
        if low <= value <= high and not (name == "scale" and value == 0):
            return float(value)
    elif hint is int and number and value == int(value) and value >= (0 if name in NONE_OF_THEM else 1):
        return int(value)
    elif (hint is bool and isinstance(value, bool)) or value in get_args(hint):
        return value
    raise ValueError


def _wanted(name: str, hint: Any) -> str:
    """What may stand there, in words."""
    if isinstance(hint, UnionType):
        return " or ".join(_wanted(name, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return f"a list, each of them {_wanted(name, get_args(hint)[0])}"
    if hint is float and name in ("mean", "scale"):
        return "a number" if name == "mean" else "a number > 0"
    if hint is float:
        return "a number in [0, 1]" if name in SHARES else "a number ≥ 0"
    whole = f"a whole number ≥ {0 if name in NONE_OF_THEM else 1}"
    return {bool: "true or false", NoneType: "null", int: whole}[hint]
