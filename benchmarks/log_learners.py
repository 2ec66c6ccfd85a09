"""Learning from a log alone: ``learn`` beside d3rlpy's learners, on the same file, core and time.

``learn`` runs as its command does, from opening the log to its last word on what the policy is worth; then
each of d3rlpy's learners fits for as long as that took, reading the log not counted. One rule for all: at 40
even times the policy is tried by a few rollouts, its most probable actions taken; the best of these, the last
one, and the first that meets the paper's OffNAC return are then tested by more. The simulator only tests: it
is opened when learning has ended, or with the clock stopped. Writes ``results/bench/log_learners.json``. By
default CartPole and Acrobot: half an hour; --tasks 4 adds Mountain Car and Lunar Lander, which takes hours.
"""

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
import pyarrow.parquet as pq
from harness import SCRATCH, Results, Row, clock
from learn import TASKS, Task
from peers import Peer
from safetensors.numpy import load_file

import offnac
from offnac import environments
from offnac.evaluation import rollout
from offnac.experiments.cells import CELLS
from offnac.learning import LearnUpdate
from offnac.networks import structure
from offnac.presets.from_log import DEFAULT
from offnac.saved_policy import Policy

LEARNERS = ("DQN", "CQL", "BCQ", "BC", "tuned DoubleDQN")
LOOKS, SCAN, EPISODES = 40, 20, 100
GREEDY = 1e6


def paper(environment: str) -> float:
    """The return that the paper prints for OffNAC."""
    return next(
        cell.mean
        for cell in CELLS
        if (cell.environment, cell.algorithm, cell.lam) == (environment, "offnac", None)
    )


def log_of(name: str, task: Task, seed: int) -> Path:
    path = SCRATCH / f"{name}-{task.rows}-{seed}.parquet"
    if not path.exists():
        SCRATCH.mkdir(parents=True, exist_ok=True)
        offnac.collect(task.environment, steps=task.rows, out=path, first_seed=seed, max_steps=task.max_steps)
    return path


def greedy(policy: Policy) -> Policy:
    """The same with its logits so large that it takes its most probable action."""
    sizes = [leaf.size for leaf in jax.tree.leaves(structure(policy.network)[0])]
    last = sum(sizes[-2:]) if getattr(policy.network, "bias", True) else sizes[-1]
    return replace(policy, theta=policy.theta.at[-last:].multiply(GREEDY))


def ours(task: Task, log: Path, goal: float, seed: int) -> dict[str, Any]:
    times: list[float] = [0.0]
    done: list[int] = [0]

    def report(update: LearnUpdate) -> None:
        times.append(clock() - began)
        done.append(update.iterations)

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = clock()
        offnac.learn(log, out=out, first_seed=seed, workers=1, report=report)
        seconds = clock() - began
        home = out / f"seed-{seed}"
        chosen, last = (offnac.load_policy(home / name) for name in ("selected", "last"))
        count = pq.read_metadata(home / "candidates.parquet").num_rows
        thetas = load_file(home / "checkpoint.safetensors")["run.candidates.theta"][:count]
    candidates = [replace(chosen, theta=jnp.asarray(theta)) for theta in thetas]
    simulator = environments.make(task.environment, task.max_steps)

    def test(policy: Policy, episodes: int, first: int = 0) -> float:
        return float(rollout.returns(simulator, policy, episodes, seed + first).mean())

    at = np.interp(np.linspace(0, done[-1], count + 1)[1:], done, times)
    scanned = [[float(when), test(greedy(one), SCAN)] for when, one in zip(at, candidates, strict=True)]
    best = candidates[int(np.argmax([total for _, total in scanned]))]
    good = (i for i, (_, total) in enumerate(scanned) if total >= goal)
    reached = next((i for i in good if test(greedy(candidates[i]), EPISODES, SCAN) >= goal), None)
    policies = {"best": best, "last": last, "chosen": chosen}
    return {
        "seconds": seconds,
        "iterations": done[-1],
        "rows_per_second": done[-1] * DEFAULT.batch / times[-1],
        **{name: test(greedy(policy), EPISODES, SCAN) for name, policy in policies.items()},
        "sampled": {name: test(policy, EPISODES, SCAN) for name, policy in policies.items()},
        "seconds_to_goal": None if reached is None else scanned[reached][0],
        "scanned": scanned,
    }


def measure(name: str, peer: Peer, seed: int) -> Row:
    task = TASKS[name]
    log, goal = log_of(name, task, seed), paper(task.environment)
    found = {"learn": ours(task, log, goal, seed)}
    request = {
        "log": str(log),
        "environment": task.environment,
        "max_steps": task.max_steps,
        "seconds": found["learn"]["seconds"],
        "looks": LOOKS,
        "scan": SCAN,
        "episodes": EPISODES,
        "goal": goal,
        "seed": seed,
    }
    for learner in LEARNERS:
        answer = peer.ask(job="learn", learner=learner, **request)
        if answer is not None:
            found[learner] = answer
    return {"environment": task.environment, "rows": task.rows, "goal": goal, "found": found}


def lines(rows: list[Row]) -> list[list[str]]:
    shown = []
    for row in rows:
        for name in ("learn", *LEARNERS):
            one = row["found"].get(name)
            if one is None:
                shown.append([row["task"], name, *["missing"] * 5])
                continue
            reached = one["seconds_to_goal"]
            shown.append(
                [
                    row["task"],
                    "offnac learn" if name == "learn" else f"d3rlpy {name}",
                    f"{one['seconds']:.0f} s",
                    f"{one['rows_per_second']:,.0f}",
                    f"{one['best']:.1f}",
                    f"{one['last']:.1f}",
                    "never" if reached is None else f"{reached:.1f} s",
                ]
            )
    return shown


def main() -> None:
    given = harness.arguments(
        __doc__, tasks=(2, "so many of the tasks, in the paper's order"), first_seed=(1000, "seed")
    )
    about = (
        "`learn` and d3rlpy's learners on the same logs of uniform behaviour, one core, one thread, the "
        "same time: as long as the whole of `learn` takes, its choice of a policy and its verdict included. "
        "The best policy of 40 looks, the last one, and the seconds to the paper's OffNAC return, all by "
        "rollouts of the most probable actions."
    )
    harness.one_core()
    results = Results("log_learners", "Learning from a log", about, given)
    columns = ["task", "learner", "time", "rows/s", "best", "last", "to the paper's return"]
    with Peer("d3rlpy_learners.py") as peer:
        results.peers = peer.versions
        for name in list(TASKS)[: given.tasks]:
            results.measure({"task": name}, partial(measure, name, peer, given.first_seed))
            results.write_table(columns, lines(results.rows))


if __name__ == "__main__":
    main()
