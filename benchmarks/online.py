"""Training steps per second on one core: every algorithm, beside Stable-Baselines3's A2C and PPO.

Ours: whole runs as ``train`` makes them, preset ``published``, once compiled; ratio updates and evaluation
episodes are in the time, but only training steps are counted. Lunar Lander: 16 seeds in lockstep. Theirs:
their defaults, one environment, no evaluation. Writes ``results/bench/online.json``; about ten minutes.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

import harness
import jax
from harness import Results, Row, clock, in_turn, ratio, spread
from peers import Peer

from offnac import environments, presets
from offnac.environments import HostEnvironment
from offnac.environments.environment import Environment
from offnac.training import lockstep, native
from offnac.training.progress import Update
from offnac.training.protocol import Experiment, start

EPISODES = {"CartPole-v1": 300, "Acrobot-v1": 60, "MountainCar-v0": 10, "LunarLander-v3": 12}
THEIR_STEPS = {"a2c": 2000, "ppo": 2048}
SEEDS = 16
"""Of Lunar Lander, in lockstep."""


def in_program(environment: Environment, experiment: Experiment, episodes: int) -> float:
    run = start(experiment.algorithm, experiment.protocol, environment.spec, jax.random.key(0))
    began = clock()
    run, _ = native.chunk(
        environment, experiment.algorithm, experiment.protocol, run, episodes, capacity=1024
    )
    steps = int(run.train_steps)
    return steps / (clock() - began)


def in_lockstep(environment: HostEnvironment, experiment: Experiment) -> float:
    """Group after group of seeds, each until its last training episode: tests of policies do not count."""
    steps, seconds = 0, 0.0
    for first in range(0, SEEDS, lockstep.WIDTH):
        done: dict[int, int] = {}
        times: list[float] = []

        def report(update: Update, done: dict[int, int] = done, times: list[float] = times) -> None:
            done[update.seed] = update.steps
            times.append(clock())

        group = range(first, first + lockstep.WIDTH)
        with tempfile.TemporaryDirectory() as out:
            began = clock()
            lockstep.train_seeds(environment, experiment, group, Path(out), 1, report, Event(), {})
        steps, seconds = steps + sum(done.values()), seconds + times[-1] - began
    return steps / seconds


def ours(task: str, algorithm: str, episodes: int) -> Callable[[], float]:
    environment = environments.make(task, presets.max_steps(task))
    experiment = presets.experiment("published", algorithm, environment.spec, episodes=episodes)
    if isinstance(environment, HostEnvironment):
        return partial(in_lockstep, environment, experiment)
    return partial(in_program, environment, experiment, episodes)


def measure(task: str, peer: Peer, repeats: int) -> Row:
    contenders: dict[str, Callable[[], float | None]] = {
        name: ours(task, name, EPISODES[task]) for name in presets.ALGORITHMS
    }
    for name, steps in THEIR_STEPS.items():
        request = {"environment": task, "max_steps": presets.max_steps(task), "steps": steps, "seed": 0}
        contenders[name] = partial(peer.ask, job="steps", algorithm=name, **request)
    found = in_turn(contenders, repeats)
    return {
        "repeats": repeats,
        "steps_per_second": {name: spread(rates) for name, rates in found.items()},
        "times_a2c": {
            name: ratio(found[name], found["a2c"]) for name in presets.ALGORITHMS if "a2c" in found
        },
    }


def cells(row: Row) -> list[str]:
    rates, times = row["steps_per_second"], row["times_a2c"]
    shown = [row["environment"]]
    for name in presets.ALGORITHMS:
        gain = f" ({times[name]:.0f}×)" if name in times else ""
        shown.append(f"{rates[name]['median']:,.0f}{gain}")
    return shown + [f"{rates[name]['median']:,.0f}" if name in rates else "missing" for name in THEIR_STEPS]


def main() -> None:
    given = harness.arguments(__doc__)
    about = (
        "Training steps per second on one core, whole runs with ratio updates and evaluation, preset "
        "`published`, once compiled; Lunar Lander with 16 seeds in lockstep. In brackets: times the rate of "
        "Stable-Baselines3's A2C, taken in turn with it. A2C and PPO: defaults, one environment, one "
        "thread, without evaluation."
    )
    harness.one_core()
    results = Results("online", "Training in a simulator", about, given)
    with Peer("stable_baselines.py") as peer:
        results.peers = peer.versions
        for task in EPISODES:
            results.measure({"environment": task}, partial(measure, task, peer, given.repeats))
            results.write(["task", *presets.ALGORITHMS, "SB3 A2C", "SB3 PPO"], cells)


if __name__ == "__main__":
    main()
