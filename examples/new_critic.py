"""A value critic of one's own: TDC, temporal differences with gradient correction (Sutton et al. 2009).

TD(0) follows no gradient, and off-policy it may diverge. TDC learns h, the least-squares projection of δ on
∇V, beside ψ, and takes back what the bootstrap target would move:

    ψ ← ψ + α ŵρ (δ ∇V(s) − γ c (∇V(s)ᵀh) ∇V(s′)),    h ← h + β ŵρ (δ − ∇V(s)ᵀh) ∇V(s)
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import offnac
from offnac.critics import TD
from offnac.settings import settings


class TDCState(NamedTuple):
    td: Any
    h: Any

    @property
    def psi(self) -> Any:
        return self.td.psi


@settings  # a frozen dataclass; its numbers are traced, so changing one recompiles nothing
class TDC:
    td: TD
    beta: float = 0.05

    def init(self, key: Any) -> TDCState:
        td = self.td.init(key)
        return TDCState(td, jnp.zeros_like(td.psi))

    def value(self, psi: Any, observation: Any) -> Any:
        return self.td.value(psi, observation)

    def _values(self, observation: Any, psi: Any) -> Any:
        return self.value(psi, observation)

    def delta(self, state: TDCState, batch: Any, gamma: float) -> Any:
        return self.td.delta(state.td, batch, gamma)

    def update(self, state: TDCState, batch: Any, w_hat: Any, rho: Any, gamma: float, clock: Any) -> TDCState:
        td, h = self.td.observe(state.td, batch), state.h
        here = partial(self._values, batch.observation)
        there = partial(self._values, batch.next_observation)
        _, along_h = jax.jvp(here, (td.psi,), (h,))  # ∇V(s)ᵀh, row by row
        _, pull_here = jax.vjp(here, td.psi)
        _, pull_there = jax.vjp(there, td.psi)
        delta, weight = self.td.delta(td, batch, gamma), w_hat * rho / rho.shape[0]
        ascent = pull_here(weight * delta)[0] - pull_there(weight * gamma * batch.continues * along_h)[0]
        h = h + self.beta * pull_here(weight * (delta - along_h))[0]
        return TDCState(self.td.move(td, ascent, clock), h)


def main(out: Path = Path("out/example-critic"), episodes: int = 200) -> dict[str, Any]:
    task = offnac.make("CartPole-v1")
    experiment = offnac.experiment("published", "nac", task.spec, episodes=episodes)
    algorithm = replace(experiment.algorithm, critic=TDC(experiment.algorithm.critic))
    run = offnac.train_seeds(task, replace(experiment, algorithm=algorithm), [0], out, test_episodes=100)[0]
    print(f"with TDC the best checkpoint earns {run['test']['mean']:.1f}")
    return run


if __name__ == "__main__":
    main()
