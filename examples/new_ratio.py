"""A density ratio of one's own: another estimator's, tempered.

w^p lies between no correction at all (p = 0) and the whole of it (p = 1): a little bias for much less
variance where a few rows would otherwise carry all the weight.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp

import offnac
from offnac.ratios import Estimator, LeastSquares, RatioData, RatioInfo, Ratios, describe
from offnac.ratios.data import average
from offnac.settings import settings


class TemperedState(NamedTuple):
    whole: Any
    mean: Any
    """E_D[w^p], by which the tempered ratio is divided so that its own mean is 1."""


@settings
class Tempered:
    whole: Estimator
    power: float = 0.5

    def init(self, key: Any, spec: offnac.Spec) -> TemperedState:
        return TemperedState(self.whole.init(key, spec), jnp.ones(()))

    def update(
        self, state: TemperedState, data: RatioData, gamma: float, key: Any, clock: Any
    ) -> tuple[TemperedState, RatioInfo]:
        whole, info = self.whole.update(state.whole, data, gamma, key, clock)
        w = self.whole.ratio(whole, data.batch.observation) ** self.power
        state = TemperedState(whole, average(w, data.weight))
        return state, describe(w / state.mean, data.rho, data.weight, info.loss)

    def ratio(self, state: TemperedState, observations: Any) -> Any:
        return self.whole.ratio(state.whole, observations) ** self.power / state.mean


def main(out: Path = Path("out/example-ratio"), episodes: int = 50) -> dict[str, Any]:
    task = offnac.make("CartPole-v1")
    experiment = offnac.experiment("paper", "offnac", task.spec, episodes=episodes)
    ratios = Ratios(w_hat=Tempered(LeastSquares("stationary")), w=Tempered(LeastSquares("direct")))
    algorithm = replace(experiment.algorithm, ratios=ratios)
    run = offnac.train_seeds(task, replace(experiment, algorithm=algorithm), [0], out, test_episodes=100)[0]
    print(f"with tempered ratios the best checkpoint earns {run['test']['mean']:.1f}")
    return run


if __name__ == "__main__":
    main()
