"""offnac: natural actor-critic with neural-network-compatible features, on-policy and off-policy."""

from importlib import import_module
from typing import Any

_HOMES = {
    "ActorCritic": "offnac.actor_critic",
    "Columns": "offnac.logs",
    "Log": "offnac.logs",
    "Policy": "offnac.saved_policy",
    "Spec": "offnac.transition",
    "Transition": "offnac.transition",
    "UserError": "offnac.errors",
    "audit": "offnac.api",
    "collect": "offnac.api",
    "convert": "offnac.api",
    "doctor": "offnac.installation",
    "evaluate": "offnac.api",
    "experiment": "offnac.presets",
    "export": "offnac.onnx_export",
    "fit_behaviour": "offnac.logs.propensity",
    "learn": "offnac.learning",
    "load_policy": "offnac.saved_policy",
    "make": "offnac.environments",
    "ope": "offnac.api",
    "read_log": "offnac.logs",
    "train": "offnac.api",
    "train_seeds": "offnac.training.stream",
    "tune": "offnac.tuning.tune",
    "watch": "offnac.report.watching",
    "write_report": "offnac.report.folder",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``offnac --help`` must not wait for JAX."""
    if name not in _HOMES:
        raise AttributeError(f"module 'offnac' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
