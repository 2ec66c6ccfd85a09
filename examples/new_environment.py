"""A task of one's own in JAX: two pure functions, stepped inside the compiled program.

A cursor drifts in the wind; 0 pushes it left, 1 right. Every step near the middle earns 1, and beyond ±2 the
task ends. Ten thousand steps of it cost no more than a few of a simulator that Python has to call.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import offnac
from offnac.settings import settings, static


@settings
class Drift:
    wind: float = 0.1
    max_steps: int = static(default=100)

    @property
    def spec(self) -> offnac.Spec:
        return offnac.Spec("Drift", observation_size=2, actions=2)

    def reset(self, key: Any) -> tuple[Any, Any]:
        at = jax.random.uniform(key, minval=-1.0, maxval=1.0)
        return (at, jnp.int32(0)), self._seen(at)

    def step(self, state: Any, action: Any, key: Any) -> tuple[Any, Any, Any, Any, Any]:
        at, steps = state
        at = at + 0.2 * (2.0 * action - 1.0) + self.wind * jax.random.normal(key)
        reward = (jnp.abs(at) < 0.5).astype(jnp.float32)
        terminated, truncated = jnp.abs(at) > 2.0, steps + 1 >= self.max_steps
        return (at, steps + 1), self._seen(at), reward, terminated, truncated

    def _seen(self, at: Any) -> Any:
        return jnp.stack([at, jnp.ones(())])  # the second number never changes: a bias for the actor


def main(out: Path = Path("out/example-environment"), episodes: int = 100) -> dict[str, Any]:
    task = Drift()
    experiment = offnac.experiment("published", "nac", task.spec, episodes=episodes)
    run = offnac.train_seeds(task, experiment, [0], out, test_episodes=100)[0]
    print(f"the best checkpoint spends {run['test']['mean']:.0f} of {task.max_steps} steps near the middle")
    return run


if __name__ == "__main__":
    main()
