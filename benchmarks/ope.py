"""How right is off-policy evaluation, where the truth is known?

Finite MDPs, 200 logs each at every horizon: how often the recommended interval covers J(π), and its RMSE
beside weighted importance sampling's. CartPole and Acrobot, logs of uniform behaviour: recommended estimates
beside rollouts, for policies from nearly uniform to nearly optimal, with the audit's verdict on each.
Writes ``results/ope/tabular.json`` and ``results/ope/control.json`` after every cell; a cell that is there
already is not measured again.

    make bench-ope                                             about a quarter of an hour on one core
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from math import isinf
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import offnac
from offnac import Log, Policy, Spec, Transition, environments, files
from offnac.behaviour import Uniform
from offnac.environments import exact
from offnac.environments.tabular import TabularMDP, random_mdp
from offnac.evaluation import rollout
from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.evidence import gather
from offnac.evaluation.off_policy.fitted.table import tabulate
from offnac.evaluation.off_policy.ope import side_by_side
from offnac.evaluation.off_policy.recommendation import recommend
from offnac.logs import collect
from offnac.networks import MLP
from offnac.provenance import now, versions

RESULTS = Path(__file__).parents[1] / "results" / "ope"
FIRST_SEED = 1000
MDPS, LOGS, EPISODES, HORIZONS = 4, 200, 50, (10, 30, 100, 300)
GAMMA = {"tabular": 0.95, "control": 0.99}
TERMINATION = 0.02

STEPS = {"CartPole-v1": 22_000, "Acrobot-v1": 250_000}
CONTROL_LOGS = 4
MAX_STEPS = 500
TRUTH_EPISODES, TRUTH_STEPS = 4000, 400_000
DIRECTIONS = {"CartPole-v1": (0.1, 0.3, 2.0, 1.0), "Acrobot-v1": (0.0, 0.0, 0.0, 0.0, -1.0, 0.5)}
SHARPNESS = {"CartPole-v1": (0.25, 0.5, 1.0, 2.0, 10.0), "Acrobot-v1": (0.02, 0.05, 0.1, 0.2, 3.0)}

Cells = Sequence[dict[str, Any]]


def linear(spec: Spec, weights: Any) -> Policy:
    """π ∝ exp(weights · s), a row of weights for each action."""
    network = MLP(spec.observation_size, (), spec.actions, bias=False)
    return Policy(network, jnp.asarray(weights, jnp.float32).ravel(), spec)


def pushing(task: str, spec: Spec, sharpness: float) -> Policy:
    """From the first action to the last as direction · s grows: 0 is uniform, 10 nearly deterministic."""
    push = np.linspace(-1.0, 1.0, spec.actions)
    return linear(spec, sharpness * push[:, None] * np.asarray(DIRECTIONS[task])[None])


# Finite MDPs ---------------------------------------------------------------------------------------------


def play(mdp: TabularMDP, logs: int, episodes: int, steps: int, seed: int) -> list[Log]:
    """Logs of uniform behaviour in a finite MDP, all at once."""
    rng = np.random.default_rng(seed)
    P, r, d0, ends = (np.asarray(part) for part in (mdp.P, mdp.r, mdp.d0, mdp.terminates))
    (states, actions), many = r.shape, logs * episodes
    s = np.zeros((many, steps + 1), int)
    a = rng.integers(0, actions, (many, steps))
    over = np.zeros((many, steps + 1), bool)
    s[:, 0] = _draw(rng, np.broadcast_to(d0, (many, states)))
    for t in range(steps):
        s[:, t + 1] = _draw(rng, P[s[:, t], a[:, t]])
        over[:, t + 1] = over[:, t] | ends[s[:, t], a[:, t], s[:, t + 1]]
    seen, spec = np.eye(states, dtype=np.float32), Spec("tabular-random", states, actions)
    made = []
    for i in range(logs):
        mine = slice(i * episodes, (i + 1) * episodes)
        there = ~over[mine, :-1]
        before, after, action, ended = (part[mine][there] for part in (s[:, :-1], s[:, 1:], a, over[:, 1:]))
        episode, step = np.nonzero(there)
        columns: Any = (
            seen[before],
            action.astype(np.int32),
            r[before, action].astype(np.float32),
            seen[after],
            ended,
            (step == steps - 1) & ~ended,
            np.full(len(step), 1.0 / actions, np.float32),
            step.astype(np.int32),
        )
        made.append(Log(spec, Transition(*columns), episode))
    return made


def _draw(rng: np.random.Generator, p: Any) -> Any:
    reached = p.cumsum(axis=1)
    return np.minimum((rng.random((len(p), 1)) >= reached).sum(axis=1), p.shape[1] - 1)


def truth(mdp: TabularMDP, pi: Any, criterion: Criterion) -> float:
    if isinf(criterion.steps):
        return float(mdp.d0 @ exact.value(mdp, pi, criterion.gamma))
    P, r = (np.asarray(part, float) for part in (exact.state_chain(mdp, pi), (pi * mdp.r).sum(axis=1)))
    V = np.zeros(len(r))
    for _ in range(int(criterion.steps)):
        V = r + criterion.gamma * P @ V
    return float(np.asarray(mdp.d0) @ V)


def tabular(
    mdps: int = MDPS,
    logs: int = LOGS,
    episodes: int = EPISODES,
    horizons: tuple[int, ...] = HORIZONS,
    first_seed: int = FIRST_SEED,
    done: Cells = (),
) -> Iterator[dict[str, Any]]:
    """A cell for each MDP and horizon; every second MDP can terminate."""
    for seed in range(first_seed, first_seed + mdps):
        key_mdp, key_pi = jax.random.split(jax.random.key(seed))
        mdp = random_mdp(key_mdp, termination=TERMINATION * (seed % 2))
        logits = jax.random.normal(key_pi, mdp.r.shape)
        pi, policy = jax.nn.softmax(logits), linear(mdp.spec, logits.T)
        for horizon in horizons:
            if any((cell["mdp"], cell["horizon"]) == (seed, horizon) for cell in done):
                continue
            played = play(mdp, logs, episodes, horizon, seed)
            cell = {
                "mdp": seed,
                "terminates": bool(seed % 2),
                "horizon": horizon,
                "logs": logs,
                "episodes": episodes,
                "discounted": _cell(played, policy, mdp, pi, Criterion(GAMMA["tabular"])),
                "undiscounted": _cell(played, policy, mdp, pi, Criterion(1.0, horizon)),
            }
            print(_line(cell), flush=True)
            yield cell


def _cell(
    played: list[Log], policy: Policy, mdp: TabularMDP, pi: Any, criterion: Criterion
) -> dict[str, Any]:
    J, errors = truth(mdp, pi, criterion), {}
    chosen, effective = [], []
    for log in played:
        evidence = gather(policy, log)
        estimates, weights = side_by_side(evidence, tabulate(log), criterion)
        effective.append(weights.effective_episodes)
        best, _ = recommend(estimates, weights, log.behaviour, exact=True)
        chosen.append(best)
        for name, one in (*estimates.items(), ("recommended", estimates[best])):
            errors.setdefault(name, []).append([value - J for value in one])
    return {
        "truth": J,
        "effective_episodes": float(np.median(effective)),
        "recommended": {name: chosen.count(name) for name in sorted(set(chosen))},
        "estimators": {name: _errors(np.asarray(each)) for name, each in errors.items()},
    }


def _errors(error: Any) -> dict[str, float]:
    return {
        "rmse": float(np.sqrt((error[:, 0] ** 2).mean())),
        "bias": float(error[:, 0].mean()),
        "coverage": float(((error[:, 1] <= 0.0) & (error[:, 2] >= 0.0)).mean()),
        "width": float(np.median(error[:, 2] - error[:, 1])),
    }


def _line(cell: dict[str, Any]) -> str:
    parts = []
    for kind in ("discounted", "undiscounted"):
        estimators = cell[kind]["estimators"]
        ours, weighted = estimators["recommended"], estimators["weighted"]
        parts.append(
            f"{kind} covers {ours['coverage']:.3f}, RMSE {ours['rmse']:.3f} "
            f"({weighted['rmse'] / ours['rmse']:.1f} times less than weighted)"
        )
    return f"MDP {cell['mdp']} horizon {cell['horizon']:3}: {'; '.join(parts)}"


# CartPole and Acrobot ------------------------------------------------------------------------------------


def control(
    logs: int = CONTROL_LOGS, first_seed: int = FIRST_SEED, done: Cells = ()
) -> Iterator[dict[str, Any]]:
    """A cell for each policy and log."""
    known = {(cell["environment"], cell["sharpness"], cell["log_seed"]): cell for cell in done}
    for task, steps in STEPS.items():
        spec = environments.make(task, MAX_STEPS).spec
        rolled = {sharpness: cell["truth"] for (name, sharpness, _), cell in known.items() if name == task}
        for seed in range(first_seed, first_seed + logs):
            wanted = [one for one in SHARPNESS[task] if (task, one, seed) not in known]
            log = collected(task, Uniform(spec.actions), steps, seed) if wanted else None
            for sharpness in wanted:
                policy = pushing(task, spec, sharpness)
                if sharpness not in rolled:
                    rolled[sharpness] = rolled_out(task, policy, first_seed)
                yield _control_cell(task, sharpness, seed, policy, log, rolled[sharpness])


def collected(task: str, behaviour: Any, steps: int, seed: int, max_steps: int = MAX_STEPS) -> Log:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        collect.collect(environments.make(task, max_steps), behaviour, steps, path, seed)
        return offnac.read_log(path)


def _control_cell(
    task: str, sharpness: float, seed: int, policy: Policy, log: Log, rolled: dict[str, float]
) -> dict[str, Any]:
    result = offnac.ope(policy, log, gamma=GAMMA["control"], max_steps=MAX_STEPS)
    best = result["estimators"][result["recommended"]]
    cell = {
        "environment": task,
        "sharpness": sharpness,
        "log_seed": seed,
        "truth": rolled,
        "error": best["value"] / rolled["discounted"] - 1.0,
        "undiscounted_error": best["undiscounted"]["value"] / rolled["undiscounted"] - 1.0,
        **result,
    }
    print(
        f"{task:11} sharpness {sharpness:<5} log {seed}: {result['verdict']:11} {result['recommended']:26} "
        f"error {cell['error']:+.1%} discounted, {cell['undiscounted_error']:+.1%} undiscounted",
        flush=True,
    )
    return cell


def rolled_out(task: str, policy: Policy, seed: int) -> dict[str, float]:
    """The truth: undiscounted returns by rollouts, discounted ones from episodes long enough to forget."""
    returns = rollout.returns(environments.make(task, MAX_STEPS), policy, TRUTH_EPISODES, seed)
    own = collected(task, policy.acting(), TRUTH_STEPS, seed, max_steps=2000)
    discounted = own.returns(GAMMA["control"])[:-1]
    return {
        "undiscounted": float(returns.mean()),
        "undiscounted_se": float(returns.std() / len(returns) ** 0.5),
        "discounted": float(discounted.mean()),
        "discounted_se": float(discounted.std() / len(discounted) ** 0.5),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=["tabular", "control"], choices=("tabular", "control"))
    parser.add_argument("--logs", type=int, help="of each cell (default: 200 finite, 4 of control)")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    measure = {"tabular": tabular, "control": control}
    for part in arguments.parts:
        path = arguments.out / f"{part}.json"
        cells = files.read_json(path)["cells"] if path.exists() else []
        told = {} if arguments.logs is None else {"logs": arguments.logs}
        for cell in measure[part](**told, first_seed=arguments.first_seed, done=tuple(cells)):
            cells.append(cell)
            record = {
                "first_seed": arguments.first_seed,
                "gamma": GAMMA[part],
                "versions": versions(),
                "date": now(),
                "cells": cells,
            }
            files.write_json(path, record)


if __name__ == "__main__":
    main()
