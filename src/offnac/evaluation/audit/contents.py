"""What is in a log, before any policy is asked about."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offnac.evaluation import statistics
from offnac.logs import Log
from offnac.logs.propensity import describe_behaviour

BINS = 24


def contents(log: Log) -> dict[str, Any]:
    rows = log.rows
    lengths = np.bincount(log.episode)
    mean, sd = (np.asarray(part, float) for part in log.scaling())
    low, high = np.asarray(rows.observation.min(axis=0)), np.asarray(rows.observation.max(axis=0))
    counts = np.bincount(rows.action, minlength=log.spec.actions)
    return {
        "log": log.spec.name,
        "rows": len(log),
        "episodes": log.episodes,
        "observation_size": log.spec.observation_size,
        "actions": log.spec.actions,
        "terminated": float(rows.terminated.sum() / log.episodes),
        "lengths": _distribution(lengths),
        "returns": _distribution(log.returns()),
        "rewards": {
            "mean": float(rows.reward.mean(dtype=np.float64)),
            "smallest": float(rows.reward.min()),
            "largest": float(rows.reward.max()),
        },
        "action_use": [
            {"action": a, "name": action_name(log, a), "rows": int(count), "share": float(count / len(log))}
            for a, count in enumerate(counts)
        ],
        "features": [
            {
                "name": feature_name(log, i),
                "mean": float(mean[i]),
                "sd": float(sd[i]) if high[i] > low[i] else 0.0,
                "smallest": float(low[i]),
                "largest": float(high[i]),
            }
            for i in range(log.spec.observation_size)
        ],
        "behaviour": describe_behaviour(log) | _choices(log),
        "warnings": list(log.warnings),
    }


def action_name(log: Log, action: int) -> str:
    return log.action_names[action] if log.action_names else str(action)


def feature_name(log: Log, i: int) -> str:
    return log.observation_names[i] if log.observation_names else f"observation_{i}"


def _choices(log: Log) -> dict[str, float]:
    """How freely the behaviour chose. E_μ[1/μ] is the number of actions that it takes at all, so that a mean
    far above the task's cannot come from true probabilities."""
    prob = np.asarray(log.rows.behaviour_prob, np.float64)
    inverse = 1.0 / prob
    return {
        "actions_tried": float(np.exp(-np.log(prob).mean())),
        "mean_inverse": float(inverse.mean()),
        "mean_inverse_se": float(inverse.std() / len(prob) ** 0.5),
    }


def _distribution(values: ArrayLike) -> dict[str, Any]:
    values = np.asarray(values, float)
    counts, edges = np.histogram(values, BINS)
    return {
        **statistics.of_episodes(values),
        "quantiles": statistics.quantiles(values),
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }
