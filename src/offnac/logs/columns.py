"""Which columns of a table hold what: the schema's names, or those that somebody declares."""

from dataclasses import dataclass
from typing import Any

from offnac.errors import UserError
from offnac.suggestions import did_you_mean

Names = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """Names for a foreign table; None: as the schema has it (``observation`` or ``observation_0`` …)."""

    observation: Names | None = None
    action: str | None = None
    reward: str | None = None
    episode: str | None = None
    step: str | None = None
    terminated: str | None = None
    truncated: str | None = None
    behaviour_prob: str | None = None
    next_observation: Names | None = None
    actions: int | Names | None = None
    """How many actions there are, or their labels in order; None: as the log shows."""

    def __post_init__(self) -> None:
        for role in ("observation", "next_observation"):
            names = getattr(self, role)
            if isinstance(names, str):
                names = (names,)
            if names is not None:
                names = tuple(names)
                if not names:
                    raise UserError(f"no column is named for {role}; name at least one, or leave it out")
                _require_different(names, f"the columns of {role}")
            object.__setattr__(self, role, names)
        if self.actions is not None and not isinstance(self.actions, int):
            labels = tuple(str(label) for label in self.actions)
            _require_different(labels, "the labels of actions")
            object.__setattr__(self, "actions", labels)
        if self.actions is not None and self.action_count < 1:
            raise UserError(f"there is at least one action, but {self.action_count} were declared")

    @property
    def action_count(self) -> int:
        """How many actions were declared; 0: none."""
        if self.actions is None:
            return 0
        return self.actions if isinstance(self.actions, int) else len(self.actions)

    @classmethod
    def named(cls, **names: Any) -> "Columns":
        """Columns from keyword arguments, with a word for who misspells one."""
        known = list(cls.__dataclass_fields__)
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known, f"there are {', '.join(known)}")
                raise UserError(f"a log has no part called {name!r}; {hint}")
        return cls(**names)


def _require_different(names: Names, what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"{what} should differ, but {', '.join(twice)} is named twice")
