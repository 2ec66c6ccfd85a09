"""How well ends are foreseen: how much of them a rule of few terms explains in a log of each task, and how
many a model's networks and the rule miss, or see where there are none, on the paths that policies learned
from logs of Acrobot take. Writes ``results/ends.json``; ten minutes.
"""

import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from learn import RESULTS, TASKS
from learn_search import Prepared, collected, in_turn

import offnac
from offnac import files
from offnac.logs import Log, read_log
from offnac.provenance import now, versions
from offnac.saved_policy import Policy
from offnac.training.from_log.data import load, scaled
from offnac.training.from_log.ranges import ranges_of
from offnac.transition import Spec

SEEDS = range(200, 204)
STEPS = 20_000
"""Of each policy in the task."""
HORIZON = 100.0


def explained(task: str, seed: int, known: Prepared) -> dict[str, Any]:
    rule = ranges_of(load(known.seen, known.units, HORIZON), known.units, known.log.spec.actions).rule
    return {
        "task": TASKS[task].environment,
        "seed": seed,
        "rows": len(known.seen),
        "ends": int(known.seen.rows.terminated.sum()),
        "explained": float(rule.explained),
        "believed": bool(rule.believed),
    }


def path_of(task: str, known: Prepared, seed: int) -> tuple[Any, Any, Log]:
    """The model of a log, what made it, and steps of the policy that was learned with it."""
    experiment = known.experiment({}, "offnac")
    source = known.source(experiment)
    spec = Spec("", known.log.spec.observation_size, known.log.spec.actions)
    lanes = [(source, experiment.algorithm, experiment.drawing)]
    thetas = in_turn(lanes, spec, [jax.random.key(seed)], experiment.every, experiment.iterations)
    theta = jnp.asarray(thetas[0, experiment.candidates - 1])
    network: Any = experiment.algorithm.policy.network
    policy = Policy(network, theta, known.log.spec, known.units.mean, known.units.scale)
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy")
        offnac.collect(
            TASKS[task].environment,
            steps=STEPS,
            out=Path(folder) / "log.parquet",
            behaviour=str(Path(folder) / "policy"),
            first_seed=seed,
        )
        log = read_log(Path(folder) / "log.parquet")
    return experiment.drawing.imagination.model, source.foresight, log


def foreseen(task: str, known: Prepared, seed: int) -> dict[str, Any]:
    model, foresight, log = path_of(task, known, seed)
    state, ended = foresight.model, np.asarray(log.rows.terminated)
    observation, following = (
        jnp.asarray(scaled(one, known.units)) for one in (log.rows.observation, log.rows.next_observation)
    )
    shown = model.known(state.ranges, observation, jnp.asarray(log.rows.action))
    networks = model.networks(observation.shape[1])
    odds = {
        "network": jnp.mean(
            jnp.stack([model.ends(networks, psi, state.ranges, shown)[0] for psi in state.members()]), 0
        ),
        "rule": state.ranges.rule.odds(following),
    }
    said = {name: np.asarray(jax.nn.sigmoid(one)) for name, one in odds.items()}
    return {
        "seed": seed,
        "recorded": int(known.seen.rows.terminated.sum()),
        "steps": len(ended),
        "ends": int(ended.sum()),
        "missed": {name: float(1.0 - one[ended].mean()) for name, one in said.items()},
        "false": {name: float(one[~ended].mean()) for name, one in said.items()},
    }


def main() -> None:
    rules, paths = [], []
    for task in TASKS:
        for seed in SEEDS:
            if task in ("mountain-car", "lunar-lander") and seed > SEEDS[0]:
                continue  # large logs, much alike
            known = Prepared(collected(task, None, seed))
            rules.append(explained(task, seed, known))
            print(rules[-1], flush=True)
            if task == "acrobot":
                paths.append(foreseen(task, known, seed))
                print(paths[-1], flush=True)
    files.write_json(
        RESULTS.parent / "ends.json",
        {"rules": rules, "paths": paths, "versions": versions(), "date": now()},
    )


if __name__ == "__main__":
    main()
