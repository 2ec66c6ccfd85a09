"""On-line training on a Gymnasium task: many seeds in lockstep around one jitted, vectorised update.

Each seed walks through the phases of its own episode (ratio rollout, training,
evaluation); every tick steps all simulators once and updates the seeds that are
training. All random numbers of an episode come from (seed, episode), and each
seed's run is kept as it was between its episodes, so a resumed run is the same run.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from offnac.environments import HostEnvironment
from offnac.training import checkpoint, programs
from offnac.training.host_memory import HostMemory
from offnac.training.programs import Phase
from offnac.training.progress import Report, Stopped, Update
from offnac.training.protocol import Experiment, Record, Run, one_of, start
from offnac.training.seed_folder import SeedFolder
from offnac.transition import Played, Transition, blank

SAVE_SECONDS = 5.0
SAVE_SECONDS_WITH_MEMORY = 60.0
"""A memory is many megabytes."""


WIDTH = 8
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
        self.learner = self.run.learner
        self.simulators = [environment.another() for _ in folders]
        self.phase = np.full(count, Phase.FINISHED, np.int32)
        self.episode = np.array([int(run.episode) for run in slim], np.int32)
        self.step = np.zeros(count, np.int32)
        self.total = np.zeros(count, np.float32)
        self.observation = np.zeros((count, self.spec.observation_size), np.float32)
        self.surprise = np.zeros(count, np.float32)
        self.trained = _played(*(part.copy() for part in (self.total, self.step, self.surprise)))
        self.ess = jnp.ones(count, jnp.float32)
        self.save_seconds = SAVE_SECONDS if experiment.protocol.replay is None else SAVE_SECONDS_WITH_MEMORY
        width = max(1, experiment.protocol.ratio_steps)
        self.memories: list[HostMemory] = []
        self.rows: list[list[tuple[Any, ...]]] = [[] for _ in folders]
        if experiment.protocol.replay is not None:
            self.memories = [HostMemory(experiment.protocol.replay, run.memory) for run in runs]
        self.ratio_rows = blank((count, width), self.spec, np)
        self.ratio_weight = np.zeros((count, width), np.float32)

    def train(self, stop: Event) -> None:
        for seed in range(len(self.folders)):
            self._begin_episode(seed)
            if self.episode[seed] > 0:
                self._tell(seed)
        saved = time.perf_counter()
        while np.any(self.phase != Phase.FINISHED):
            ended = self._tick()
            if np.any(ended) and (stop.is_set() or time.perf_counter() - saved > self.save_seconds):
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
        rollout = protocol.ratio_steps > 0 and protocol.replay is None
        self._begin_phase(seed, Phase.RATIO if rollout else Phase.TRAIN)

    def _begin_phase(self, seed: int, phase: Phase) -> None:
        self.phase[seed] = phase
        self.step[seed], self.total[seed], self.surprise[seed] = 0, 0.0, 0.0
        numbers = [self.folders[seed].seed, int(self.episode[seed]), int(phase)]
        reset_seed = int(np.random.SeedSequence(numbers).generate_state(1)[0]) // 2
        self.observation[seed] = self._shown(self.simulators[seed].reset(reset_seed))

    def _shown(self, observation: NDArray[Any]) -> NDArray[Any]:
        mean, scale = self.experiment.protocol.mean, self.experiment.protocol.scale
        if mean is None or scale is None:
            return observation
        return (observation - np.asarray(mean, np.float32)) / np.asarray(scale, np.float32)

    def _tick(self) -> NDArray[np.bool_]:
        """Step every simulator once; which seeds ended a whole episode."""
        protocol = self.experiment.protocol
        action, prob = programs.act(
            self.algorithm,
            self.protocol,
            self.spec,
            self.learner.theta,
            self.observation,
            self.run.key,
            self.episode,
            self.phase,
            self.step,
        )
        transition, done = self._simulate(np.asarray(action), np.asarray(prob))
        training = self.phase == Phase.TRAIN
        if self.memories:
            for seed in _indices(training):
                self.rows[seed].append(tuple(column[seed] for column in transition))
        elif np.any(training):
            self.learner = programs.learn(self.algorithm, self.protocol, self.learner, transition, training)
        self._gather_ratios(transition, done)
        train_done, evaluation_done = training & done, (self.phase == Phase.EVALUATE) & done
        for seed in _indices(train_done):
            for kept, now in zip(self.trained, (self.total, self.step, self.surprise), strict=True):
                kept[seed] = now[seed]
            if self.memories:
                self._learn_from_memory(seed)
            if protocol.off_policy:
                self._begin_phase(seed, Phase.EVALUATE)
        ended = evaluation_done if protocol.off_policy else train_done
        if np.any(ended):
            self._end_episodes(ended)
        return ended

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
        self.surprise -= np.log(prob) / np.log(max(2, self.spec.actions))
        transition = _of_host(
            observation, action, reward, self.observation.copy(), terminated, truncated, prob, step
        )
        return transition, terminated | truncated

    def _gather_ratios(self, transition: Transition, done: NDArray[np.bool_]) -> None:
        """Collect the first steps of the ratio rollouts; where one is complete, update the ratios."""
        for seed in _indices(self.phase == Phase.RATIO):
            row = self.step[seed] - 1
            for column, value in zip(self.ratio_rows, transition, strict=True):
                column[seed, row] = value[seed]
            self.ratio_weight[seed, row] = 1.0
        complete = (self.phase == Phase.RATIO) & (done | (self.step >= self.ratio_weight.shape[1]))
        if not np.any(complete):
            return
        self.learner, self.ess = programs.estimate_ratios(
            self.algorithm,
            self.protocol,
            self.learner,
            self.ratio_rows,
            self.ratio_weight,
            self.run.key,
            self.episode,
            complete,
            self.ess,
        )
        self.ratio_weight = np.where(complete[:, None], 0.0, self.ratio_weight).astype(np.float32)
        for seed in _indices(complete):
            self._begin_phase(seed, Phase.TRAIN)

    def _learn_from_memory(self, seed: int) -> None:
        """Keep the episode just played, and take the updates that follow it."""
        self.memories[seed].keep(self.rows[seed])
        self.rows[seed] = []
        learner, ess = programs.learn_one(
            self.algorithm,
            self.protocol,
            jax.tree.map(lambda leaf: leaf[seed], self.learner),
            self.memories[seed].now(),
            self.run.key[seed],
            int(self.episode[seed]),
        )
        self.learner, self.ess = jax.tree.map(
            lambda stacked, one: stacked.at[seed].set(one), (self.learner, self.ess), (learner, ess)
        )

    def _tell(self, seed: int) -> None:
        records = self.records[seed]
        steps, average = int(records["train_length"].sum()), float(records["average"][-1])
        episodes = int(self.episode[seed])
        self.report(Update(self.folders[seed].seed, episodes, self.experiment.episodes, steps, average))

    def _end_episodes(self, ended: NDArray[np.bool_]) -> None:
        evaluation = _played(self.total.copy(), self.step.copy(), self.surprise.copy())
        trained = _played(*(part.copy() for part in self.trained))
        self.run, self.learner, record = programs.book(
            self.protocol, self.run, self.learner, trained, evaluation, self.ess, ended
        )
        rows = jax.device_get(record)
        for seed in _indices(ended):
            one = Record(*(column[seed : seed + 1] for column in rows))
            self.records[seed] = checkpoint.append(self.records[seed], one, 1)
            self.episode[seed] += 1
            if self.memories:
                self.memories[seed].book()
            self._tell(seed)
            self._begin_episode(seed)


def _indices(mask: NDArray[np.bool_]) -> list[int]:
    return np.flatnonzero(mask).tolist()


def _played(*columns: Any) -> Any:
    """Episodes that the host has counted."""
    return Played(*columns)


def _of_host(*columns: Any) -> Transition:
    """A transition of the host's arrays, which JAX takes as they are."""
    return Transition(*columns)
