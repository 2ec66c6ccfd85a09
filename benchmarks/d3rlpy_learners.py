"""d3rlpy's learners on a Parquet log: what they reach, and when. Run in the peers' environment."""

import tempfile
from pathlib import Path
from typing import Any

import d3rlpy
import gymnasium
import numpy as np
import pyarrow.parquet as pq
from answering import answer, clock
from d3rlpy.algos import DiscreteBCConfig, DiscreteBCQConfig, DiscreteCQLConfig, DoubleDQNConfig, DQNConfig
from d3rlpy.dataset import MDPDataset
from d3rlpy.logging import NoopAdapterFactory

LEARNERS: dict[str, Any] = {
    "DQN": DQNConfig(),
    "CQL": DiscreteCQLConfig(),
    "BCQ": DiscreteBCQConfig(),
    "BC": DiscreteBCConfig(),
    "tuned DoubleDQN": DoubleDQNConfig(learning_rate=1e-3, target_update_interval=250),
}
NEVER = 10**9
EPOCH = 50
"""Gradient steps between two looks at the clock."""


def dataset(log: str) -> MDPDataset:
    columns = ["observation", "action", "reward", "terminated", "truncated"]
    table = pq.read_table(log, columns=columns).combine_chunks()
    observation, *rest = (table[name].combine_chunks() for name in columns)
    flat = observation.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    action, reward, terminated, truncated = (one.to_numpy(zero_copy_only=False) for one in rest)
    truncated = truncated & ~terminated
    truncated[-1] |= not terminated[-1]
    return MDPDataset(
        flat.reshape(len(observation), -1), action, reward.astype(np.float32), terminated, truncated
    )


def play(learner: Any, environment: str, max_steps: int | None, episodes: int, seed: int) -> float:
    """The mean return of greedy episodes, side by side."""
    limit = {} if max_steps is None else {"max_episode_steps": max_steps}
    tasks = [gymnasium.make(environment, **limit) for _ in range(episodes)]
    seen = [task.reset(seed=seed + i)[0] for i, task in enumerate(tasks)]
    totals, playing = np.zeros(episodes), list(range(episodes))
    while playing:
        actions = learner.predict(np.asarray([seen[i] for i in playing], np.float32))
        for i, action in list(zip(playing, actions, strict=True)):
            seen[i], reward, terminated, truncated, _ = tasks[i].step(int(action))
            totals[i] += float(reward)
            if terminated or truncated:
                playing.remove(i)
    return float(totals.mean())


def learn(
    learner: str,
    log: str,
    environment: str,
    max_steps: int | None,
    seconds: float,
    looks: int,
    scan: int,
    episodes: int,
    goal: float,
    seed: int,
) -> dict[str, Any]:
    """Fit for ``seconds``; at ``looks`` even times stop the clock and try the policy by ``scan`` episodes.
    Where that meets the goal, and for the best and the last policy, ``episodes`` others have the word."""
    d3rlpy.seed(seed)
    data, model = dataset(log), LEARNERS[learner].create(device="cpu")
    spent, looked, reached, scanned, steps = 0.0, 0, None, [], 0
    with tempfile.TemporaryDirectory() as folder:
        best = Path(folder) / "best.pt"
        fitting = model.fitter(
            data,
            n_steps=NEVER,
            n_steps_per_epoch=EPOCH,
            logger_adapter=NoopAdapterFactory(),
            show_progress=False,
        )
        while spent < seconds:
            began = clock()
            next(fitting)
            spent += clock() - began
            steps += EPOCH
            if spent < seconds * (looked + 1) / looks:
                continue
            looked = int(spent / seconds * looks)
            scanned.append([spent, play(model, environment, max_steps, scan, seed)])
            if scanned[-1][1] >= max(total for _, total in scanned):
                model.save_model(best)
            if reached is None and scanned[-1][1] >= goal:
                tested = play(model, environment, max_steps, episodes, seed + scan)
                reached = spent if tested >= goal else None
        last = play(model, environment, max_steps, episodes, seed + scan)
        model.load_model(best)
        return {
            "seconds": spent,
            "gradient_steps": steps,
            "rows_per_second": steps * model.config.batch_size / spent,
            "best": play(model, environment, max_steps, episodes, seed + scan),
            "last": last,
            "seconds_to_goal": reached,
            "scanned": scanned,
        }


if __name__ == "__main__":
    answer({"learn": learn}, ("d3rlpy", "gymnasium"))
