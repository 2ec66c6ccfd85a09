"""Presets by name: ``robust`` (every seed learns), ``published`` (what the experiments ran), ``shaped`` (the
same on the rewards that they added to Mountain Car's), ``paper`` (its tables), ``theory`` (what the proof
assumes)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from offnac.errors import UserError
from offnac.presets import robust, tables
from offnac.presets.changes import changed
from offnac.presets.compose import TWO_TIMESCALES, Powers, is_natural, is_off_policy, paper, published, theory
from offnac.suggestions import did_you_mean
from offnac.training import shaping
from offnac.training.protocol import Experiment
from offnac.transition import Spec

PRESETS = ("robust", "published", "shaped", "paper", "theory")
SHAPED = "MountainCar-v0"
ALGORITHMS = tables.ALGORITHMS

_THEORY = {
    "ac": tables.Row((16,), (64, 64), 1e-3, 5e-4),
    "nac": tables.Row((16,), (64, 64), 1e-3, 5e-4, 1e-2),
    "offac": tables.Row((16,), (64, 64), 1e-3, 5e-4, ratio_rate=1e-2, ratio_steps=20),
    "offnac": tables.Row((16,), (64, 64), 1e-3, 5e-4, 1e-2, ratio_rate=1e-2, ratio_steps=20),
}

__all__ = ["ALGORITHMS", "PRESETS", "Experiment", "Powers", "experiment", "max_steps"]


def max_steps(environment: str) -> int | None:
    """The paper's time limit for a task; None for the task's own."""
    return tables.MAX_STEPS.get(environment)


def experiment(
    preset: str,
    algorithm: str,
    spec: Spec,
    *,
    lam: float = 0.0,
    gamma: float | None = None,
    episodes: int | None = None,
    actor_rate: float | None = None,
    value_rate: float | None = None,
    x_rate: float | None = None,
    ratio_rate: float | None = None,
    newest: float | None = None,
    powers: Powers = TWO_TIMESCALES,
    settings: Mapping[str, Any] | None = None,
) -> Experiment:
    """The composition for an algorithm on a task, with single numbers changed where given; ``settings`` are
    changes of the robust preset's row.

    A task that the paper does not have gets the settings of CartPole.
    """
    _require_known("preset", preset, PRESETS)
    _require_known("algorithm", algorithm, ALGORITHMS)
    if not 0.0 <= lam <= 1.0:
        raise UserError(f"λ must lie in [0, 1], but it is {lam}; choose --lam between 0 and 1")
    if gamma is not None and not 0.0 < gamma < 1.0:
        raise UserError(
            f"γ must lie in (0, 1), but it is {gamma}; choose --gamma between 0 and 1, both excluded"
        )
    if newest is not None and not 0.0 < newest <= 1.0:
        raise UserError(
            f"the newest return's weight in the running average must lie in (0, 1], but it is {newest}; "
            "choose 0.1 (as published) or 0.9 (as printed)"
        )
    changes = {
        "actor_rate": actor_rate,
        "value_rate": value_rate,
        "x_rate": x_rate,
        "ratio_rate": ratio_rate,
    }
    given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    for name, value in given.items():
        if not 0.0 < value < float("inf"):
            raise UserError(
                f"a rate must be positive, but {name.replace('_', ' ')} is {value}; give a number > 0"
            )
    _require_used(algorithm, preset, given)
    if settings is not None and preset != "robust":
        raise UserError(
            f"only the robust preset takes settings by name, but the preset is {preset}; "
            "choose --preset robust, or leave out --settings"
        )
    robust_row = changed(robust.row(spec.name, algorithm, lam), settings or {}, spec)
    if episodes is None:
        enough = robust_row.episodes if preset == "robust" else None
        episodes = _episodes(spec.name, is_off_policy(algorithm)) if enough is None else enough
    if episodes < 1:
        raise UserError(f"at least one training episode is needed, but {episodes} were asked for")
    if preset == "robust":
        off_policy, natural = is_off_policy(algorithm), is_natural(algorithm)
        built = robust.robust(off_policy, natural, replace(robust_row, **given), spec, lam, gamma, episodes)
    else:
        gamma = robust.GAMMA if gamma is None else gamma
        row = replace(_row(preset, algorithm, spec.name, lam), **given)
        if preset == "theory":
            built = theory(algorithm, row, spec, lam, gamma, episodes, powers)
        elif preset == "shaped":
            built = _shaped(published(algorithm, row, spec, lam, gamma, episodes), spec)
        else:
            build = paper if preset == "paper" else published
            built = build(algorithm, row, spec, lam, gamma, episodes)
    if newest is not None:
        built = replace(built, protocol=replace(built.protocol, newest=newest))
    return built


def _episodes(task: str, off_policy: bool) -> int:
    """The paper's training episodes."""
    return tables.OFF_POLICY_EPISODES.get(task, tables.EPISODES) if off_policy else tables.EPISODES


def _shaped(built: Experiment, spec: Spec) -> Experiment:
    if spec.name not in ("", SHAPED):
        raise UserError(
            f"only {SHAPED} had shaped rewards, but the task is {spec.name}; choose --preset published"
        )
    added = shaping.OFF_POLICY if built.protocol.off_policy else shaping.ON_POLICY
    return replace(built, protocol=replace(built.protocol, shaping=added))


def _require_used(algorithm: str, preset: str, given: dict[str, Any]) -> None:
    """Refuse a rate that the algorithm or the preset has no use for."""
    solved = preset == "robust"
    reasons = {
        "x_rate": "the robust preset solves for x" if solved else f"{algorithm} has no advantage critic",
        "ratio_rate": "the robust preset solves for w" if solved else f"{algorithm} has no ratios",
    }
    used = {"x_rate": is_natural(algorithm), "ratio_rate": is_off_policy(algorithm)}
    for name, reason in reasons.items():
        if name in given and (solved or not used[name]):
            raise UserError(f"{reason}, so --{name.replace('_', '-')} has no meaning; leave it out")


def _row(preset: str, algorithm: str, task: str, lam: float) -> tables.Row:
    if preset == "theory":
        return _THEORY[algorithm]
    if lam > 0 and task in tables.PAPER_LAMBDA:
        return tables.PAPER_LAMBDA[task][algorithm]
    table = tables.PAPER if preset == "paper" else tables.PUBLISHED
    if task in table:
        return table[task][algorithm]
    # The published drops are bands of one task's returns: they mean nothing on another.
    return replace(table["CartPole-v1"][algorithm], actor_drops=(), x_drops=(), value_drops=())


def _require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        hint = did_you_mean(name, known, f"choose one of {', '.join(known)}")
        raise UserError(f"{what} '{name}' is not known; {hint}")
