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
from offnac.training.from_log.imagination import Imagined
from offnac.training.host_memory import HostMemory
from offnac.training.programs import Chance, Phase, Rows
from offnac.training.progress import Report, Stopped, Update
from offnac.training.protocol import Experiment, Run, one_of, start
from offnac.training.seed_folder import SeedFolder
from offnac.training.study import study
from offnac.transition import Played, Transition

SAVE_SECONDS = 5.0
SAVE_SECONDS_WITH_MEMORY = 60.0
"""A memory is many megabytes."""


WIDTH = 16
"""Seeds in a group. Always as many, empty places included: a product of matrices of another shape
adds up in another order, and a seed's result must not depend on how many others there are."""

EACH = np.arange(WIDTH)

AHEAD = 8
"""Episodes of a seed whose chance is drawn at once: a call costs more than what it draws."""


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
    group = _Group(environment, experiment, folders, report, stop)
    try:
        group.train()
    except Stopped:
        group.save()
        raise
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
        stop: Event,
    ) -> None:
        self.experiment, self.folders, self.report, self.stop = experiment, folders, report, stop
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
        slim = [run._replace(memory=None, imagined=None) for run in runs]
        slim += slim[-1:] * (WIDTH - len(slim))
        self.run: Run = jax.tree.map(lambda *leaves: jnp.stack(leaves), *slim)
        # A copy: programs update learners in place.
        self.learner = jax.tree.map(jnp.copy, self.run.learner)
        self.simulators = [environment.another() for _ in folders]
        self.episode = np.array([int(run.episode) for run in slim], np.int32)
        self.phase = np.full(count, Phase.FINISHED, np.int32)
        self.step = np.zeros(count, np.int32)
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
        self.ahead: list[tuple[int, Chance] | None] = [None] * count
        self.noise = np.zeros((count, BLOCK, self.spec.actions), self.learner.theta.dtype)
        self.imagined: list[Imagined | None] = [run.imagined for run in runs]
        self.booked = list(self.imagined)
        self.memories: list[HostMemory] = []
        self.rows: list[list[Row]] = [[] for _ in folders]
        if experiment.protocol.replay is not None:
            self.memories = [HostMemory(experiment.protocol.replay, run.memory) for run in runs]

    def train(self) -> None:
        for seed in range(len(self.folders)):
            self._begin_episode(seed)
            self._tell(seed)
        saved = time.perf_counter()
        while np.any(self.phase != Phase.FINISHED):
            ended = self._tick()
            if ended and time.perf_counter() - saved > self.save_seconds:
                self.save()
                saved = time.perf_counter()
            if self.stop.is_set():
                raise Stopped
        self.save()

    def save(self) -> None:
        """Each seed as it was after its last whole episode."""
        for index, folder in enumerate(self.folders):
            folder.save(self.between_episodes(index), self.records[index])

    def between_episodes(self, seed: int) -> Run:
        """A seed's run as it was after its last whole episode."""
        run: Run = one_of(self.run, seed)
        if not self.memories:
            return run
        return run._replace(memory=self.memories[seed].between_episodes(), imagined=self.booked[seed])

    def close(self) -> None:
        for simulator in self.simulators:
            simulator.close()

    def _begin_episode(self, seed: int) -> None:
        if self.episode[seed] >= self.experiment.episodes:
            self.phase[seed] = Phase.FINISHED
            return
        self.noise[seed] = self._chance(seed, 0).pi
        protocol, fresh = self.experiment.protocol, None
        if protocol.ratio_steps > 0 and protocol.replay is None:
            self._begin_phase(seed, Phase.RATIO)
            first = list(islice(self._follow(seed), protocol.ratio_steps))
            fresh = stacked(first, protocol.ratio_steps, self.spec)
        self._begin_phase(seed, Phase.TRAIN)
        if protocol.off_policy:
            self._train_under_mu(seed, fresh)
            self._begin_phase(seed, Phase.EVALUATE)
        elif fresh is not None:
            self._learn_rows(seed, [], fresh)

    def _chance(self, seed: int, first: int) -> Chance:
        """The chance in the seed's episode from its step ``first`` on: most end before there is a second."""
        episode = int(self.episode[seed])
        if first > 0:
            return _of_episode(self._draw(seed, episode, 1, first), 0)
        ahead = self.ahead[seed]
        if ahead is None or episode >= ahead[0] + AHEAD:
            ahead = self.ahead[seed] = episode, self._draw(seed, episode, AHEAD, 0)
        return _of_episode(ahead[1], episode - ahead[0])

    def _draw(self, seed: int, episode: int, episodes: int, first: int) -> Chance:
        acting = Phase.EVALUATE if self.experiment.protocol.off_policy else Phase.TRAIN
        which = self.run.key, seed, episode, episodes, first, BLOCK
        drawn = programs.draw(self.algorithm.policy, self.learner.theta, self.spec, acting, *which)
        chance: Chance = jax.tree.map(np.asarray, drawn)
        return chance

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
        phase = int(self.phase[seed])

        def draw(step: int) -> list[int]:
            actions: list[int] = self._chance(seed, step).mu[phase].tolist()
            return actions

        return follow(self.simulators[seed], self.observation[seed].copy(), self._shown, draw)

    def _train_under_mu(self, seed: int, fresh: Rows | None) -> None:
        """A whole training episode."""
        rollout = self._follow(seed)
        while rows := list(islice(rollout, BLOCK)):
            for row in rows:
                self.total[seed] += row[2]
            self.step[seed] += len(rows)
            if self.memories:
                self.rows[seed] += rows
            else:
                self._learn_rows(seed, rows, fresh)
                fresh = None
        self.surprise[seed] = self.step[seed] * _surprise(1.0 / self.spec.actions, self.spec.actions)
        self._end_training(seed)

    def _learn_rows(self, seed: int, rows: list[Row], fresh: Rows | None) -> None:
        # The rollout of μ for the ratios asks nothing of them, so both updates are one call.
        self.learner, ess = programs.learn_rows(
            self.algorithm,
            self.protocol,
            self.learner,
            seed,
            stacked(rows, BLOCK, self.spec),
            fresh,
            self.run.key,
            int(self.episode[seed]),
        )
        if fresh is not None:
            self.ess[seed] = ess

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
            self._noise(),
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

    def _noise(self) -> NDArray[Any]:
        """What π chooses by in this tick."""
        at = self.step % BLOCK
        if not at.all():
            for seed in _indices((at == 0) & (self.step > 0) & (self.phase != Phase.FINISHED)):
                self.noise[seed] = self._chance(seed, int(self.step[seed])).pi
        noise: NDArray[Any] = self.noise[EACH, at]
        return noise

    def _learn_on_policy(self, transition: Transition) -> None:
        training = self.phase == Phase.TRAIN
        if not self.memories:
            self.learner = programs.learn(self.algorithm, self.protocol, self.learner, transition, training)
            return
        for seed in _indices(training):
            self.rows[seed].append(tuple(column[seed] for column in transition))

    def _simulate(self, action: NDArray[Any], prob: NDArray[Any]) -> tuple[Transition, NDArray[np.bool_]]:
        observation, step, actions = self.observation.copy(), self.step.copy(), action.tolist()
        # Lists: to write a number into an array takes longer.
        rewards, ends, cuts = [0.0] * len(actions), [False] * len(actions), [False] * len(actions)
        for seed in _indices(self.phase != Phase.FINISHED):
            following, rewards[seed], ends[seed], cuts[seed] = self.simulators[seed].step(actions[seed])
            self.observation[seed] = self._shown(following)
        reward, terminated, truncated = np.array(rewards, np.float32), np.array(ends), np.array(cuts)
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
        self._study(seed)
        self.learner, self.imagined[seed], self.ess[seed] = programs.learn_memory(
            self.algorithm,
            self.protocol,
            self.learner,
            seed,
            self.memories[seed].now(),
            self.imagined[seed],
            self.run.key,
            int(self.episode[seed]),
        )

    def _study(self, seed: int) -> None:
        """Once learning begins, a model is made of what has been recorded until then."""
        protocol, imagined = self.experiment.protocol, self.imagined[seed]
        if protocol.replay is None or imagined is None or self.episode[seed] != protocol.replay.warm_up:
            return

        def fitted(what: str, done: int, of: int) -> None:
            self._tell(seed, f"seed {self.folders[seed].seed} studies its record, {what}: {done / of:.0%}")

        memory = self.memories[seed].now()
        foresight = study(memory, self.experiment, self.spec, fitted, self.stop)
        self.imagined[seed] = imagined._replace(foresight=foresight)

    def _played(self, seed: int) -> Any:
        """The phase that the seed is at the end of."""
        return Played(*(column[seed] for column in (self.total, self.step, self.surprise)))

    def _tell(self, seed: int, doing: str | None = None) -> None:
        records, episodes = self.records[seed], int(self.episode[seed])
        if episodes == 0:
            return
        steps, average = int(records["train_length"].sum()), float(records["average"][-1])
        number, of = self.folders[seed].seed, self.experiment.episodes
        self.report(Update(number, episodes, of, steps, average, doing))

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
            self.booked[seed] = self.imagined[seed]
        self._tell(seed)
        self._begin_episode(seed)


def _indices(mask: NDArray[np.bool_]) -> list[int]:
    indices: list[int] = mask.nonzero()[0].tolist()
    return indices


def _of_episode(chance: Chance, index: int) -> Chance:
    return Chance(chance.mu[index], chance.pi[index])


def _surprise(prob: Any, actions: int) -> Any:
    """−log μ(a|s), in units of the uniform behaviour's."""
    return -np.log(prob) / np.log(max(2, actions))


def _of_host(*columns: Any) -> Transition:
    """A transition of the host's arrays, which JAX takes as they are."""
    return Transition(*columns)
