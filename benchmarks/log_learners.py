"""Learning from a log alone: ``learn`` beside d3rlpy's learners, on the same file, core and time.

``learn`` runs as its command does, from opening the log to its last word on what the policy is worth, its
programs compiled before; then each of d3rlpy's learners fits for as long as that took, reading the log not
counted. One rule for all: at even times the policy is tried by a few rollouts; the best of these, the last
one, and the first that meets the paper's OffNAC return are then tested by more. d3rlpy's policies take the
action of the highest value; ours draw their actions, as they do wherever they are tested, and in a row of its
own take the most probable ones. The simulator only tests: it is opened when learning has ended, or with the
clock stopped. Writes ``results/bench/log_learners.json``. By default CartPole and Acrobot: half an hour;
--tasks 4 adds Mountain Car and Lunar Lander, which takes hours.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import harness
import jax
import numpy as np
from harness import SCRATCH, Results, Row, clock
from learn import TASKS, Task
from peers import Peer

import offnac
from offnac import environments
from offnac.evaluation import rollout
from offnac.experiments.cells import CELLS
from offnac.learning import LearnUpdate
from offnac.networks import structure
from offnac.presets.from_log import DEFAULT
from offnac.saved_policy import Policy
from offnac.training.from_log.folder import LearnFolder

OURS = "offnac learn"
PROBABLE = "offnac learn, most probable actions"
LEARNERS = ("tuned DoubleDQN", "DQN", "CQL", "BCQ", "BC")
SCAN, EPISODES = 20, 100
GREEDY = 1e6


COLUMNS = ("task", "learner", "time", "rows/s", "tried", "best", "last", "to the paper's return")


@dataclass(frozen=True)
class Trial:
    name: str
    seed: int
    looks: int

    @property
    def task(self) -> Task:
        return TASKS[self.name]

    @property
    def goal(self) -> float:
        """The return that the paper prints for OffNAC."""
        here = (self.task.environment, "offnac", None)
        return next(cell.mean for cell in CELLS if (cell.environment, cell.algorithm, cell.lam) == here)

    def log(self) -> Path:
        """Collected once."""
        task, path = self.task, SCRATCH / f"{self.name}-{self.task.rows}-{self.seed}.parquet"
        if not path.exists():
            SCRATCH.mkdir(parents=True, exist_ok=True)
            offnac.collect(
                task.environment, steps=task.rows, out=path, first_seed=self.seed, max_steps=task.max_steps
            )
        return path


def greedy(policy: Policy) -> Policy:
    """The same with its logits so large that it takes its most probable action."""
    sizes = [leaf.size for leaf in jax.tree.leaves(structure(policy.network)[0])]
    last = sum(sizes[-2:]) if getattr(policy.network, "bias", True) else sizes[-1]
    return replace(policy, theta=policy.theta.at[-last:].multiply(GREEDY))


class Learned(NamedTuple):
    seconds: float
    iterations: int
    learning: float
    """Seconds until the last iteration."""
    last: Policy
    chosen: Policy
    candidates: list[tuple[float, Policy]]
    """With the seconds after which each was there."""


@lru_cache
def learned(trial: Trial) -> Learned:
    seed, log = trial.seed, trial.log()
    times: list[float] = [0.0]
    done: list[int] = [0]

    def report(update: LearnUpdate) -> None:
        times.append(clock() - began)
        done.append(update.iterations)

    with tempfile.TemporaryDirectory() as folder:
        offnac.learn(log, out=Path(folder) / "compiled", workers=1, iterations=1)
        out = Path(folder) / "run"
        began = clock()
        offnac.learn(log, out=out, first_seed=seed, workers=1, report=report)
        seconds = clock() - began
        home = out / f"seed-{seed}"
        chosen, last = (offnac.load_policy(home / name) for name in ("selected", "last"))
        candidates = LearnFolder(out, seed).candidates()
    count = len(candidates)
    looked = np.linspace(0, count, min(trial.looks, count) + 1)[1:].astype(int) - 1
    at = np.interp((looked + 1) / count * done[-1], done, times).tolist()
    kept = list(zip(at, (candidates[one] for one in looked), strict=True))
    return Learned(seconds, done[-1], times[-1], last, chosen, kept)


def ours(trial: Trial, acting: Callable[[Policy], Policy]) -> Row:
    found, task = learned(trial), trial.task
    simulator = environments.make(task.environment, task.max_steps)

    def test(policy: Policy, episodes: int, first: int = 0) -> float:
        return float(rollout.returns(simulator, acting(policy), episodes, trial.seed + first).mean())

    scanned = [[when, test(policy, SCAN)] for when, policy in found.candidates]
    best = found.candidates[int(np.argmax([total for _, total in scanned]))][1]
    good = (i for i, (_, total) in enumerate(scanned) if total >= trial.goal)
    reached = next((i for i in good if test(found.candidates[i][1], EPISODES, SCAN) >= trial.goal), None)
    policies = {"best": best, "last": found.last, "chosen": found.chosen}
    return {
        "seconds": found.seconds,
        "iterations": found.iterations,
        "rows_per_second": found.iterations * DEFAULT.batch / found.learning,
        **{name: test(policy, EPISODES, SCAN) for name, policy in policies.items()},
        "seconds_to_goal": None if reached is None else scanned[reached][0],
        "scanned": scanned,
    }


def theirs(trial: Trial, learner: str, seconds: float, peer: Peer) -> Row:
    return peer.ask(
        job="learn",
        learner=learner,
        log=str(trial.log()),
        environment=trial.task.environment,
        max_steps=trial.task.max_steps,
        seconds=seconds,
        looks=trial.looks,
        scan=SCAN,
        episodes=EPISODES,
        goal=trial.goal,
        seed=trial.seed,
    )


def measure(results: Results, trial: Trial, learner: str, work: Callable[[], Row]) -> Row | None:
    task = trial.task
    told = {"environment": task.environment, "rows": task.rows, "goal": trial.goal, "looks": trial.looks}
    row = results.measure({"task": trial.name, "learner": learner}, lambda: {**told, **work()})
    results.write(COLUMNS, cells)
    return row


def cells(row: Row) -> list[str]:
    reached = row["seconds_to_goal"]
    return [
        row["task"],
        row["learner"],
        f"{row['seconds']:.0f} s",
        f"{row['rows_per_second']:,.0f}",
        f"{row['looks']}×",
        f"{row['best']:.1f}",
        f"{row['last']:.1f}",
        "never" if reached is None else f"{reached:.1f} s",
    ]


def main() -> None:
    given = harness.arguments(
        __doc__,
        tasks=(2, "so many of the tasks, in the paper's order"),
        first_seed=(1000, "seed"),
        looks=(40, "times that a policy is tried"),
    )
    about = (
        "`learn` and d3rlpy's learners on the same log of uniform behaviour, one of each task, one core, one "
        "thread, the same time: as long as the whole of `learn` takes once compiled, its choice of a policy "
        "and its verdict included. The best policy of those tried on the way, the last one, and the seconds "
        "to the paper's OffNAC return, all by rollouts: ours draws its actions, or takes the most probable "
        "ones where that is said; d3rlpy's take those of the highest value."
    )
    harness.one_core()
    results = Results("log_learners", "Learning from a log", about, given)
    with Peer("d3rlpy_learners.py") as peer:
        results.peers = peer.versions
        for name in list(TASKS)[: given.tasks]:
            trial = Trial(name, given.first_seed, given.looks)
            first = measure(results, trial, OURS, partial(ours, trial, lambda policy: policy))
            measure(results, trial, PROBABLE, partial(ours, trial, greedy))
            if first is None or not peer.versions:
                continue
            for learner in LEARNERS:
                work = partial(theirs, trial, learner, first["seconds"], peer)
                measure(results, trial, f"d3rlpy {learner}", work)


if __name__ == "__main__":
    main()
