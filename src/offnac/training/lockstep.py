"""On-line training on a Gymnasium task: many seeds in lockstep around one jitted, vectorised update.

Each seed walks through the phases of its own episode (ratio rollout, training,
evaluation). Where π acts, every tick steps all simulators once, and on-policy updates
all seeds; where μ does, a seed goes through its phase at once (:mod:`follow`). All
random numbers of an episode come from (seed, episode), and each seed's run is kept
as it was between its episodes, so a resumed run is the same run.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from offnac.environments import HostEnvironment
from offnac.training import checkpoint, programs
from offnac.training.follow import BLOCK, Row, follow, stacked
from offnac.training.host_memory import HostMemory
from offnac.training.programs import Phase
from offnac.training.progress import Report, Stopped, Update
from offnac.training.protocol import Experiment, Run, one_of, start
from offnac.training.seed_folder import SeedFolder
from offnac.transition import Played, Transition

SAVE_SECONDS = 5.0
SAVE_SECONDS_WITH_MEMORY = 60.0
"""A memory is many megabytes."""


WIDTH = 16
"""Seeds in a group. Always as many, empty places included: a product of matrices of another shape
adds up in another order, and a seed's result must not depend on how many others there are."""


def train_seeds(
    environment: HostEnvironment,
    experiment: Experiment,
    seeds: Sequence[int],
    out: Path,
    test_episodes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
) -> list[dict[str, Any]]:
    folders = [SeedFolder(out, seed) for seed in seeds]
    unfinished = [folder for folder in folders if folder.result() is None]
    for first in range(0, len(unfinished), WIDTH):
        group = unfinished[first : first + WIDTH]
        _train_group(environment, experiment, group, test_episodes, report, stop, provenance)
    return [result for folder in folders if (result := folder.result()) is not None]


def _train_group(
    environment: HostEnvironment,
    experiment: Experiment,
    folders: list[SeedFolder],
    test_episodes: int,
    report: Report,
    stop: Event,
    provenance: dict[str, Any],
) -> None:
    group = _Group(environment, experiment, folders, report)
    try:
        group.train(stop)
    finally:
        group.close()
    for index, folder in enumerate(folders):
        run = group.between_episodes(index)
        folder.finish(environment, experiment, run, group.records[index], test_episodes, provenance, stop)


class _Group:
    """Seeds in lockstep: their runs stacked, a simulator and a phase for each."""

    def __init__(
        self,
        environment: HostEnvironment,
        experiment: Experiment,
        folders: list[SeedFolder],
        report: Report,
    ) -> None:
        self.experiment, self.folders, self.report = experiment, folders, report
        self.spec, count = environment.spec, WIDTH
        # On the device once: numbers of the host's would be carried there anew by every call.
        self.algorithm, self.protocol = jax.device_put((experiment.algorithm, experiment.protocol))
        runs: list[Any] = []
        self.records = []
        for folder in folders:
            run = start(experiment.algorithm, experiment.protocol, self.spec, jax.random.key(folder.seed))
            run, records = folder.load(run)
            runs.append(run)
            self.records.append(records)
        # Memories are large and seeds end their episodes at different times: each stays on its own.
        slim = [run._replace(memory=None) for run in runs]
        slim += slim[-1:] * (WIDTH - len(slim))
        self.run: Run = jax.tree.map(lambda *leaves: jnp.stack(leaves), *slim)
        # A copy: programs update learners in place.
        self.learner = jax.tree.map(jnp.copy, self.run.learner)
        self.simulators = [environment.another() for _ in folders]
        # One array, and each of its columns by name: every array that a call takes costs time.
        self.when = np.zeros((count, 3), np.int32)
        self.episode, self.phase, self.step = self.when.T
        self.episode[:], self.phase[:] = [int(run.episode) for run in slim], Phase.FINISHED
        self.total = np.zeros(count, np.float32)
        self.observation = np.zeros((count, self.spec.observation_size), np.float32)
        self.surprise = np.zeros(count, np.float32)
        self.trained: list[Any] = [None] * count
        self.ess: list[Any] = [np.float32(1.0)] * count
        self.mean, self.scale = (
            None if numbers is None else np.asarray(numbers, np.float32)
            for numbers in (experiment.protocol.mean, experiment.protocol.scale)
        )
        self.save_seconds = SAVE_SECONDS if experiment.protocol.replay is None else SAVE_SECONDS_WITH_MEMORY
        self.memories: list[HostMemory] = []
        self.rows: list[list[Row]] = [[] for _ in folders]
        if experiment.protocol.replay is not None:
            self.memories = [HostMemory(experiment.protocol.replay, run.memory) for run in runs]

    def train(self, stop: Event) -> None:
        for seed in range(len(self.folders)):
            self._begin_episode(seed)
            if self.episode[seed] > 0:
                self._tell(seed)
        saved = time.perf_counter()
        while np.any(self.phase != Phase.FINISHED):
            ended = self._tick()
            if ended and (stop.is_set() or time.perf_counter() - saved > self.save_seconds):
                self.save()
                saved = time.perf_counter()
            if stop.is_set():
                self.save()
                raise Stopped
        self.save()

    def save(self) -> None:
        """Each seed as it was after its last whole episode."""
        for index, folder in enumerate(self.folders):
            folder.save(self.between_episodes(index), self.records[index])

    def between_episodes(self, seed: int) -> Run:
        """A seed's run as it was after its last whole episode."""
        run = one_of(self.run, seed)
        return run._replace(memory=self.memories[seed].between_episodes()) if self.memories else run

    def close(self) -> None:
        for simulator in self.simulators:
            simulator.close()

    def _begin_episode(self, seed: int) -> None:
        if self.episode[seed] >= self.experiment.episodes:
            self.phase[seed] = Phase.FINISHED
            return
        protocol = self.experiment.protocol
        if protocol.ratio_steps > 0 and protocol.replay is None:
            self._begin_phase(seed, Phase.RATIO)
            self._estimate_ratios(seed)
        self._begin_phase(seed, Phase.TRAIN)
        if protocol.off_policy:
            self._train_under_mu(seed)
            self._begin_phase(seed, Phase.EVALUATE)

    def _begin_phase(self, seed: int, phase: Phase) -> None:
        self.phase[seed] = phase
        self.step[seed], self.total[seed], self.surprise[seed] = 0, 0.0, 0.0
        numbers = [self.folders[seed].seed, int(self.episode[seed]), int(phase)]
        reset_seed = int(np.random.SeedSequence(numbers).generate_state(1)[0]) // 2
        self.observation[seed] = self._shown(self.simulators[seed].reset(reset_seed))

    def _shown(self, observation: NDArray[Any]) -> NDArray[Any]:
        if self.mean is None or self.scale is None:
            return observation
        shown: NDArray[Any] = (observation - self.mean) / self.scale
        return shown

    def _follow(self, seed: int) -> Iterator[Row]:
        """The rollout of μ that the seed's phase is."""
        numbers = seed, int(self.episode[seed]), int(self.phase[seed])

        def draw(step: int) -> list[int]:
            actions: list[int] = np.asarray(
                programs.draw(self.spec, self.run.key, *numbers, step, BLOCK)
            ).tolist()
            return actions

        return follow(self.simulators[seed], self.observation[seed].copy(), self._shown, draw)

    def _estimate_ratios(self, seed: int) -> None:
        """A ratio update on the first steps of a rollout of μ."""
        count = self.experiment.protocol.ratio_steps
        rows = list(islice(self._follow(seed), count))
        self.learner, self.ess[seed] = programs.estimate_ratios(
            self.algorithm,
            self.protocol,
            self.learner,
            seed,
            stacked(rows, count, self.spec),
            (np.arange(count) < len(rows)).astype(np.float32),
            self.run.key,
            int(self.episode[seed]),
        )

    def _train_under_mu(self, seed: int) -> None:
        """A whole training episode."""
        rollout = self._follow(seed)
        while rows := list(islice(rollout, BLOCK)):
            for row in rows:
                self.total[seed] += row[2]
            self.step[seed] += len(rows)
            if self.memories:
                self.rows[seed] += rows
            else:
                block = stacked(rows, BLOCK, self.spec)
                self.learner = programs.learn_rows(
                    self.algorithm, self.protocol, self.learner, seed, block, len(rows)
                )
        self.surprise[seed] = self.step[seed] * _surprise(1.0 / self.spec.actions, self.spec.actions)
        self._end_training(seed)

    def _end_training(self, seed: int) -> None:
        self.trained[seed] = self._played(seed)
        if self.memories:
            self._learn_from_memory(seed)

    def _tick(self) -> list[int]:
        """Step every simulator once under π; the seeds that ended a whole episode."""
        off_policy, learner = self.experiment.protocol.off_policy, self.learner
        action, prob = programs.act(
            self.algorithm.policy,
            learner.learned if off_policy else learner.theta,
            self.observation,
            self.run.key,
            self.when,
        )
        transition, done = self._simulate(np.asarray(action), np.asarray(prob))
        ended = _indices(done)
        if not off_policy:
            self._learn_on_policy(transition)
            for seed in ended:
                self._end_training(seed)
        for seed in ended:
            self._end_episode(seed)
        return ended

    def _learn_on_policy(self, transition: Transition) -> None:
        training = self.phase == Phase.TRAIN
        if not self.memories:
            self.learner = programs.learn(self.algorithm, self.protocol, self.learner, transition, training)
            return
        for seed in _indices(training):
            self.rows[seed].append(tuple(column[seed] for column in transition))

    def _simulate(self, action: NDArray[Any], prob: NDArray[Any]) -> tuple[Transition, NDArray[np.bool_]]:
        count = len(self.phase)
        observation, step = self.observation.copy(), self.step.copy()
        reward = np.zeros(count, np.float32)
        terminated, truncated = np.zeros(count, bool), np.zeros(count, bool)
        for seed in _indices(self.phase != Phase.FINISHED):
            following, reward[seed], terminated[seed], truncated[seed] = self.simulators[seed].step(
                int(action[seed])
            )
            self.observation[seed] = self._shown(following)
        self.step += 1
        self.total += reward
        self.surprise += _surprise(prob, self.spec.actions)
        transition = _of_host(
            observation, action, reward, self.observation.copy(), terminated, truncated, prob, step
        )
        return transition, terminated | truncated

    def _learn_from_memory(self, seed: int) -> None:
        """Keep the episode just played, and take the updates that follow it."""
        self.memories[seed].keep(self.rows[seed])
        self.rows[seed] = []
        self.learner, self.ess[seed] = programs.learn_memory(
            self.algorithm,
            self.protocol,
            self.learner,
            seed,
            self.memories[seed].now(),
            self.run.key,
            int(self.episode[seed]),
        )

    def _played(self, seed: int) -> Any:
        """The phase that the seed is at the end of."""
        return Played(*(column[seed] for column in (self.total, self.step, self.surprise)))

    def _tell(self, seed: int) -> None:
        records = self.records[seed]
        steps, average = int(records["train_length"].sum()), float(records["average"][-1])
        episodes = int(self.episode[seed])
        self.report(Update(self.folders[seed].seed, episodes, self.experiment.episodes, steps, average))

    def _end_episode(self, seed: int) -> None:
        self.run, clock, record = programs.book(
            self.protocol,
            self.run,
            self.learner,
            seed,
            self.trained[seed],
            self._played(seed),
            self.ess[seed],
        )
        self.learner = self.learner._replace(clock=clock)
        row = jax.tree.map(lambda number: np.asarray(number)[None], record)
        self.records[seed] = checkpoint.append(self.records[seed], row, 1)
        self.episode[seed] += 1
        if self.memories:
            self.memories[seed].book()
        self._tell(seed)
        self._begin_episode(seed)


def _indices(mask: NDArray[np.bool_]) -> list[int]:
    indices: list[int] = mask.nonzero()[0].tolist()
    return indices


def _surprise(prob: Any, actions: int) -> Any:
    """−log μ(a|s), in units of the uniform behaviour's."""
    return -np.log(prob) / np.log(max(2, actions))


def _of_host(*columns: Any) -> Transition:
    """A transition of the host's arrays, which JAX takes as they are."""
    return Transition(*columns)
