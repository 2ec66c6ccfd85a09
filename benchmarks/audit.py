"""Does the audit see what a policy would see? The share of its weight that a log barely holds, as the audit
tells it and as counted in episodes of the policy itself, with the verdict.

Writes ``results/ope/audit.json``.

    .venv/bin/python benchmarks/audit.py                      a minute or two on one core
"""

from pathlib import Path
from typing import Any

import numpy as np
from ope import collected, linear, pushing

from offnac import Log, Policy, environments, files
from offnac.behaviour import Uniform
from offnac.evaluation.audit import audit
from offnac.evaluation.audit.support import Rows
from offnac.provenance import now, versions

OUT = Path(__file__).parents[1] / "results" / "ope" / "audit.json"
SEED = 1000
GAMMA = 0.99
OWN_STEPS = 10_000
CARTPOLE, ACROBOT, MOUNTAIN_CAR = "CartPole-v1", "Acrobot-v1", "MountainCar-v0"
MAX_STEPS = {CARTPOLE: 500, ACROBOT: 500, MOUNTAIN_CAR: 10_000}


def cartpole(name: str) -> Policy:
    weights = {"balances": (1, 3, 20, 10), "balances, too": (1, 3, 18, 9), "falls": (0, 0, -20, -10)}[name]
    return linear(environments.make(CARTPOLE, 500).spec, [(0, 0, 0, 0), weights])


def cases() -> list[tuple[str, int, str, str]]:
    """Task, rows, behaviour, policy."""
    return [
        (CARTPOLE, 22_000, "uniform", "uniform"),
        *((CARTPOLE, 22_000, "uniform", sharpness) for sharpness in ("0.25", "1", "2")),
        (CARTPOLE, 22_000, "uniform", "balances"),
        (CARTPOLE, 3000, "uniform", "balances"),
        (CARTPOLE, 5000, "balances", "balances, too"),
        (CARTPOLE, 5000, "balances", "uniform"),
        (CARTPOLE, 5000, "balances", "falls"),
        (CARTPOLE, 5000, "falls", "balances"),
        *((ACROBOT, 250_000, "uniform", sharpness) for sharpness in ("uniform", "0.05", "0.2", "3")),
        (MOUNTAIN_CAR, 20_000, "uniform", "pumps"),
        (MOUNTAIN_CAR, 500_000, "uniform", "pumps"),
    ]


def policy_of(task: str, name: str) -> Policy:
    spec = environments.make(task, MAX_STEPS[task]).spec
    if name == "uniform":
        return linear(spec, np.zeros((spec.actions, spec.observation_size)))
    if name == "pumps":
        return linear(spec, np.outer([-1.0, 0.0, 1.0], [0.0, 200.0]))
    return cartpole(name) if name[0].isalpha() else pushing(task, spec, float(name))


def truly_barely_held(log: Log, task: str, policy: Policy) -> float:
    own, rows = (
        collected(task, policy.acting(), OWN_STEPS, SEED + 1, MAX_STEPS[task]),
        Rows(log, np.random.default_rng(0)),
    )
    distance, _ = rows.nearest(rows.standard(np.asarray(own.rows.observation)), np.asarray(own.rows.action))
    weight = GAMMA ** np.asarray(own.rows.step, float)
    return float((weight * (distance > rows.radius)).sum() / weight.sum())


def main() -> None:
    cells: list[dict[str, Any]] = []
    logs: dict[tuple[str, int, str], Log] = {}
    for task, rows, behaviour, name in cases():
        key = (task, rows, behaviour)
        if key not in logs:
            actions = environments.make(task, MAX_STEPS[task]).spec.actions
            acting = Uniform(actions) if behaviour == "uniform" else policy_of(task, behaviour).acting()
            logs = {key: collected(task, acting, rows, SEED, MAX_STEPS[task])}
        log, policy = logs[key], policy_of(task, name)
        found = audit(log, policy, gamma=GAMMA)
        cells.append(
            {
                "environment": task,
                "rows": rows,
                "behaviour": behaviour,
                "policy": name,
                "truly": truly_barely_held(log, task, policy),
                "barely_held": found["policy"]["support"]["barely_held"],
                "late": found["policy"]["support"]["late"],
                "verdict": found["verdict"],
                "reasons": found["reasons"],
            }
        )
        one = cells[-1]
        print(
            f"{task:14} {rows:7,} {behaviour:9} {name:14} truly {one['truly']:.0%}, "
            f"audit {one['barely_held']:.0%}, late {one['late']:.0%}: {one['verdict']}",
            flush=True,
        )
    record = {"seed": SEED, "gamma": GAMMA, "versions": versions(), "date": now(), "cells": cells}
    files.write_json(OUT, record)


if __name__ == "__main__":
    main()
