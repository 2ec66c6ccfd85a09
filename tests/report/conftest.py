"""A small invented reproduction to report on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offnac
from offnac import files
from offnac.evaluation import statistics
from offnac.networks import MLP
from offnac.provenance import versions
from offnac.report.reproduction import write
from offnac.saved_policy import Policy
from offnac.transition import Spec

PAPER = {
    "CartPole-v1": (497.2, 498.6, 499.62, 500.0),
    "Acrobot-v1": (-83.91, -84.83, -85.33, -84.28),
    "MountainCar-v0": (-448.95, -291.13, -874.62, -202.62),
    "LunarLander-v3": (171.51, 179.93, 87.05, 215.14),
}
PAPER_LAMBDA = (-147.7, -143.29, -771.47, -192.66)
LAMBDA = (0.7, 1.0, 0.7, 1.0)
ALGORITHMS = ("ac", "nac", "offac", "offnac")
FIRST = {"CartPole-v1": 20.0, "Acrobot-v1": -500.0, "MountainCar-v0": -9000.0, "LunarLander-v3": -300.0}
SPREAD = {"CartPole-v1": 2.0, "Acrobot-v1": 2.0, "MountainCar-v0": 9.0, "LunarLander-v3": 15.0}

# Weights of linear policies that do their tasks tolerably: [action, observation].
WEIGHTS = {
    "CartPole-v1": [[-1, -3, -20, -10], [1, 3, 20, 10]],
    "Acrobot-v1": [[0, 0, 0, 0, -5, -5], [0] * 6, [0, 0, 0, 0, 5, 5]],
    "MountainCar-v0": [[0, -500], [0, 0], [0, 500]],
    "LunarLander-v3": [
        [0] * 8,
        [-2, 0, -3, 0, 5, 5, 0, 0],
        [0, -5, 0, -12, 0, 0, 0, 0],
        [2, 0, 3, 0, -5, -5, 0, 0],
    ],
}


def linear_policy(environment: str) -> Policy:
    weights = jnp.asarray(WEIGHTS[environment], jnp.float32)
    actions, size = weights.shape
    return Policy(MLP(size, (), actions, bias=False), weights.ravel(), Spec(environment, size, actions))


def invent(
    out: Path,
    seeds: int = 6,
    episodes: int = 120,
    presets: tuple[str, ...] = ("published", "robust"),
    policies: tuple[str, ...] = tuple(WEIGHTS),
) -> Path:
    """A folder as ``offnac reproduce`` leaves it, with numbers that nobody measured."""
    rng = np.random.default_rng(0)
    cells: list[dict[str, Any]] = []
    rows = [(task, index, None, mean) for task in PAPER for index, mean in enumerate(PAPER[task])]
    rows += [("MountainCar-v0", index, LAMBDA[index], mean) for index, mean in enumerate(PAPER_LAMBDA)]
    tables = []
    for environment, index, lam, mean in rows:
        name = f"{environment.split('-')[0].lower()}-{ALGORITHMS[index]}" + ("-lambda" if lam else "")
        for preset in presets:
            limit = 500.0 if environment == "CartPole-v1" else np.inf
            lucky = rng.random(seeds) if preset != "robust" else np.ones(seeds)
            gain = abs(mean) * 0.05 if preset == "robust" else 0.0
            ends = np.minimum(mean + gain + rng.normal(size=seeds) * SPREAD[environment], limit)
            ends = FIRST[environment] + lucky**0.3 * (ends - FIRST[environment])
            speed = rng.uniform(3, 8, size=(seeds, 1)) * (1.5 if index % 2 else 1.0)
            progress = 1 - np.exp(-speed * np.linspace(0, 1, episodes))
            returns = FIRST[environment] + progress * (ends[:, None] - FIRST[environment])
            returns = np.minimum(returns + rng.normal(size=returns.shape) * SPREAD[environment], limit)
            tables.append(_rows(name, preset, returns))
            summary = statistics.across_seeds(ends) | {"values": ends.tolist()}
            meets = summary["iqm"] >= mean
            final = ends - np.abs(rng.normal(size=seeds)) * SPREAD[environment]
            cells.append(
                {
                    "cell": name,
                    "environment": environment,
                    "algorithm": ALGORITHMS[index],
                    "lam": lam,
                    "preset": preset,
                    "paper": {"mean": mean, "sd": 5.0},
                    "test": summary,
                    "final_test": statistics.across_seeds(final) | {"values": final.tolist()},
                    "episodes_to_paper": {"median": 0.4 * episodes if meets else None, "share": 0.8},
                    "meets": meets,
                    "sure": summary["low"] >= mean or summary["high"] < mean,
                    "verdict": f"{'meets' if meets else 'below'} the paper's mean: IQM & more",
                    "seeds": list(range(1000, 1000 + seeds)),
                    "settings": {"algorithm": {"gamma": 0.99, "value": {"sizes": [64, 64]}}, "lam": lam},
                    "seconds": 12.5,
                    "train_steps": 1234567,
                }
            )
    files.write_json(
        out / "summary.json",
        {
            "versions": versions(),
            "date": "2026-01-02T03:04:05+00:00",
            "seeds": list(range(1000, 1000 + seeds)),
            "seconds": 1234.5,
            "presets": list(presets),
            "cells": cells,
            "improvement": [
                {"environment": task, "lam": lam, "preset": preset, "pair": pair}
                | {"probability": 0.7, "low": 0.4 if preset == "published" else 0.55, "high": 0.9}
                | {"final": {"probability": 0.65, "low": 0.5, "high": 0.8}}
                for preset in presets
                for task, lam in [*((task, None) for task in PAPER), ("MountainCar-v0", 1.0)]
                for pair in ("nac>ac", "offnac>offac")
            ],
            "notes": ["Off-policy, the best checkpoint is chosen by running the policy in a <simulator>."],
        },
    )
    pq.write_table(pa.concat_tables(tables), out / "curves.parquet")
    for environment in policies:
        name = f"{environment.split('-')[0].lower()}-offnac-{presets[-1]}"
        for seed in range(1000, 1000 + seeds):
            linear_policy(environment).save(out / "runs" / name / f"seed-{seed}" / "best")
    return out


def _rows(cell: str, preset: str, returns: np.ndarray) -> pa.Table:
    seeds, episodes = returns.shape
    published, printed = returns.copy(), returns.copy()
    for i in range(1, episodes):
        published[:, i] = 0.1 * returns[:, i] + 0.9 * published[:, i - 1]
        printed[:, i] = 0.9 * returns[:, i] + 0.1 * printed[:, i - 1]
    count = seeds * episodes
    return pa.table(
        {
            "cell": [cell] * count,
            "preset": [preset] * count,
            "seed": np.repeat(np.arange(1000, 1000 + seeds, dtype=np.int32), episodes),
            "episode": np.tile(np.arange(episodes, dtype=np.int32), seeds),
            "average": published.ravel().astype(np.float32),
            "average_printed": printed.ravel().astype(np.float32),
            "average_published": published.ravel().astype(np.float32),
            "evaluation_return": returns.ravel().astype(np.float32),
        }
    )


@pytest.fixture(scope="session")
def policy_of() -> Callable[[str], Policy]:
    """A task's policy, by name."""
    return linear_policy


@pytest.fixture(scope="session")
def invented() -> Callable[..., Path]:
    """Makes more reproductions, otherwise than the one that is shared."""
    return invent


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invent(tmp_path_factory.mktemp("reproduction"))


@pytest.fixture(scope="session")
def report(reproduction: Path) -> Path:
    return write(reproduction)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run in a simulator."""
    out = tmp_path_factory.mktemp("trained") / "run"
    offnac.train(
        "tabular-chain", "offnac", out=out, seeds=2, episodes=12, test_episodes=10, max_steps=30, workers=1
    )
    return out


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run over a log."""
    base = tmp_path_factory.mktemp("learned")
    offnac.collect("tabular-chain", steps=1500, out=base / "chain.parquet")
    offnac.learn(base / "chain.parquet", out=base / "run", iterations=4, workers=1)
    return base / "run"


@pytest.fixture(scope="session")
def train_page(trained: Path) -> Path:
    return Path(offnac.write_report(trained)["report"])


@pytest.fixture(scope="session")
def learn_page(learned: Path) -> Path:
    return Path(offnac.write_report(learned, out=learned.parent / "page.html")["report"])
