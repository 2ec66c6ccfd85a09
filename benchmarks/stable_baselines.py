"""Stable-Baselines3's A2C and PPO with their defaults on one environment. Run in the peers' environment."""

from typing import Any

import gymnasium
from answering import answer, clock
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor

ALGORITHMS = {"a2c": A2C, "ppo": PPO}
NEVER = 10**9


def _model(algorithm: str, environment: str, max_steps: int | None, seed: int) -> Any:
    task = gymnasium.make(environment, **({} if max_steps is None else {"max_episode_steps": max_steps}))
    return ALGORITHMS[algorithm]("MlpPolicy", Monitor(task), seed=seed, device="cpu")


def steps(algorithm: str, environment: str, max_steps: int | None, steps: int, seed: int) -> float:
    """Training steps per second."""
    model = _model(algorithm, environment, max_steps, seed)
    began = clock()
    model.learn(steps)
    return float(model.num_timesteps / (clock() - began))


class _UntilGood(BaseCallback):
    """Stops once the running average of the returns reaches the goal, or time is up."""

    def __init__(self, goal: float, newest: float, seconds: float) -> None:
        super().__init__()
        self.goal, self.newest, self.seconds = goal, newest, seconds
        self.average: float | None = None
        self.best = float("-inf")
        self.reached: float | None = None

    def _on_training_start(self) -> None:
        self.began = clock()

    def _on_step(self) -> bool:
        now = clock() - self.began
        for info in self.locals["infos"]:
            if "episode" in info:
                total = float(info["episode"]["r"])
                before = total if self.average is None else self.average
                self.average = self.newest * total + (1.0 - self.newest) * before
                self.best = max(self.best, self.average)
                if self.average >= self.goal:
                    self.reached = now
        return self.reached is None and now < self.seconds


def goal(
    algorithm: str,
    environment: str,
    max_steps: int | None,
    goal: float,
    newest: float,
    seconds: float,
    seed: int,
) -> dict[str, Any]:
    """Seconds and steps of training until the running average reaches the goal; None for never in time."""
    model, watch = _model(algorithm, environment, max_steps, seed), _UntilGood(goal, newest, seconds)
    model.learn(NEVER, callback=watch)
    best = None if watch.average is None else watch.best
    return {"seconds": watch.reached, "steps": int(model.num_timesteps), "best_average": best}


if __name__ == "__main__":
    answer({"steps": steps, "goal": goal}, ("stable-baselines3", "gymnasium"))
