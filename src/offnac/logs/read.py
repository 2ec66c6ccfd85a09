"""Read a log: find its columns, check every value, put it in order; only then is anything learned."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from offnac.logs import fields
from offnac.logs.actions import read_actions
from offnac.logs.columns import Columns
from offnac.logs.episodes import Marks, arrange, codes
from offnac.logs.features import warn_of_features
from offnac.logs.log import FITTED, LOGGED, Log
from offnac.logs.parts import find
from offnac.logs.problems import Problems
from offnac.logs.source import Source, open_source
from offnac.logs.successors import lead
from offnac.transition import Spec, Transition


def read_log(source: Any, columns: Columns | None = None, **names: Any) -> Log:
    """A log from a path (Parquet, CSV, ``minari:ID``), a data frame, or a mapping of arrays.

    A table with columns of its own names them: ``read_log("records.csv", observation=("age", "bp"),
    action="dose", reward="gain")``; see :class:`Columns`.
    """
    wanted = columns or Columns.named(**names)
    opened = open_source(source, (*(wanted.observation or ()), *(wanted.next_observation or ())))
    problems = Problems(opened.name)
    if opened.rows == 0:
        problems.error("it holds no rows")
        problems.require_none()
    found = find(opened, wanted, problems)
    problems.require_none()
    return _assemble(opened, wanted, found, problems)


def _assemble(source: Source, wanted: Columns, found: dict[str, list[str]], problems: Problems) -> Log:
    rows = source.rows
    uses = Counter(name for names in found.values() for name in names)
    held: dict[str, pa.ChunkedArray] = {}

    def take(name: str) -> pa.ChunkedArray:
        """A column, kept only while another part needs it too (a step may also be observed)."""
        column = held.pop(name) if name in held else source.take(name)
        uses[name] -= 1
        if uses[name]:
            held[name] = column
        return column

    def vectors(part: str) -> NDArray[np.float32]:
        return fields.matrix(take, found[part], source.types, rows, problems)

    def column(part: str, read: Any) -> Any:
        return read(take(found[part][0]), found[part][0], problems) if part in found else None

    marks = Marks(
        column("episode", codes),
        column("step", fields.integers),
        column("terminated", fields.booleans),
        column("truncated", fields.booleans),
    )
    actions = read_actions(take(found["action"][0]), found["action"][0], _known(source, wanted), problems)
    reward = column("reward", fields.floats)
    prob = column("behaviour_prob", fields.floats)
    if prob is not None:
        problems.error_in(
            np.isfinite(prob) & ((prob <= 0.0) | (prob > 1.0 + 1e-5)),
            "the probabilities of the actions taken should lie in (0, 1], but in {rows} they do not",
        )
    observation = vectors("observation")
    fields.require_finite(observation, found["observation"], problems)
    following = vectors("next_observation") if "next_observation" in found else None
    if following is not None and following.shape != observation.shape:
        problems.error(
            f"next_observation should have {observation.shape[1]} numbers as observation has, "
            f"but it has {following.shape[1]}"
        )
    problems.require_none()

    episodes = arrange(marks, rows, following is not None, problems)
    del marks
    if (order := episodes.order) is not None:
        actions = actions._replace(number=actions.number[order])
        observation, reward = observation[order], reward[order]
        prob, following = (None if part is None else part[order] for part in (prob, following))
    following, kept = lead(observation, following, episodes, problems)
    problems.require_none()

    names = tuple(found["observation"]) if len(found["observation"]) > 1 else None
    spec = Spec(source.metadata.get("offnac.environment", source.title), observation.shape[1], actions.size)
    columns: dict[str, Any] = {
        "observation": observation,
        "action": actions.number,
        "reward": reward,
        "next_observation": following,
        "terminated": episodes.terminated,
        "truncated": episodes.truncated,
        "behaviour_prob": np.ones(rows, np.float32) if prob is None else np.minimum(prob, np.float32(1.0)),
        "step": episodes.step,
    }
    log = Log(
        spec,
        Transition(**columns),
        episodes.episode,
        _behaviour(source, prob),
        action_names=actions.names or _stored(source, "offnac.action_names", actions.size),
        observation_names=names or _stored(source, "offnac.observation_names", spec.observation_size),
    )
    if not kept.all():
        log = log.keep(kept)
    warn_of_features(log, problems)
    return replace(log, warnings=tuple(problems.warnings))


def _known(source: Source, wanted: Columns) -> Columns:
    """What is known of the actions: as declared, else as offnac wrote it beside the columns."""
    count = source.metadata.get("offnac.actions", "")
    if wanted.actions is None and wanted.action is None and count.isdigit() and 0 < int(count) < 2**31:
        return replace(wanted, actions=int(count))
    return wanted


def _stored(source: Source, key: str, count: int) -> tuple[str, ...] | None:
    try:
        names = json.loads(source.metadata.get(key, "null"))
    except ValueError:
        return None
    return tuple(map(str, names)) if isinstance(names, list) and len(names) == count else None


def _behaviour(source: Source, prob: NDArray[np.float32] | None) -> str | None:
    if prob is None:
        return None
    return FITTED if source.metadata.get("offnac.behaviour_prob") == FITTED else LOGGED
