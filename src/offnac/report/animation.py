"""A policy at work, as a small film: one episode, the same for the same seed."""

import os
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from offnac import environments
from offnac.api import require_fit
from offnac.environments import HostEnvironment, episode, is_native
from offnac.environments.environment import Environment
from offnac.errors import UserError
from offnac.evaluation.rollout import TEST
from offnac.report.canvas import WIDTH
from offnac.report.pictures import picture_of
from offnac.saved_policy import Policy

PICTURES_PER_SECOND = 30
PICTURES_AT_MOST = 150
SLOWEST = 60
"""Milliseconds a picture stays at most where pictures are left out: a long episode runs fast rather than
jerkily."""
COLOURS = 32
QUIET = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
"""Some tasks look for a screen and loudspeakers even to render into memory, and greet on standard output."""
LAST = 1200
"""Milliseconds the last picture stays, so that the end is seen."""
BYTES = 300_000


@dataclass(frozen=True)
class Film:
    """Pictures of an episode, with its return and its length in steps."""

    pictures: list[Image.Image]
    milliseconds: int
    total: float
    steps: int
    ended: bool
    """Whether the task ended; otherwise the film, or a time limit, did."""

    def gif(self, most: int = BYTES) -> bytes:
        """The film as a GIF of at most ``most`` bytes: where it is larger, every other picture goes."""
        pictures, milliseconds = _one_palette(self.pictures), self.milliseconds
        while len(moving := _encode(pictures, milliseconds)) > most and len(pictures) > 10:
            # Counted from the end, so that the last picture stays.
            pictures, milliseconds = pictures[::-1][::2][::-1], 2 * milliseconds
        return moving

    def still(self) -> bytes:
        """One picture of it, two thirds on, as a PNG: for those who want nothing to move."""
        buffer = BytesIO()
        pictures = _one_palette(self.pictures)
        pictures[2 * len(pictures) // 3].save(buffer, "PNG", optimize=True)
        return buffer.getvalue()


def record(
    policy: Policy,
    environment: str,
    seed: int = 0,
    max_steps: int | None = None,
    most: int = PICTURES_AT_MOST,
) -> Film:
    """Film the first test episode of ``seed``, the one that ``offnac evaluate`` begins with, in at most
    ``most`` pictures."""
    task = environments.make(environment, max_steps)
    require_fit(policy, task.spec)
    if is_native(task):
        return _draw(environment, _play_native(task, policy, seed), most)
    try:
        return _render(environment, task, _play_host(task, policy, seed), most)
    finally:
        task.close()


class _Played(NamedTuple):
    observations: NDArray[np.float32]
    actions: list[int]
    total: float
    ended: bool
    started_from: int = 0
    """What the simulator was reset with, where it is one of the host's."""


def _play_native(task: Environment, policy: Policy, seed: int) -> _Played:
    # The keys are those of evaluation.rollout's episode 0.
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), TEST), 0)
    reset_key, step_key = jax.random.split(key)
    behaviour, now = policy.acting(), episode.begin(task, reset_key)
    observations, actions, terminated = [np.asarray(now.observation)], [], False
    while not now.done:
        now, row = _advance(task, behaviour, now, jax.random.fold_in(step_key, now.step))
        observations.append(np.asarray(now.observation))
        actions.append(int(row.action[0]))
        terminated = bool(row.terminated[0])
    return _Played(np.stack(observations), actions, float(now.total), terminated)


_advance = jax.jit(episode.advance)


def _play_host(task: HostEnvironment, policy: Policy, seed: int) -> _Played:
    # The numbers are those of evaluation.rollout's episode 0.
    numbers = np.random.default_rng([TEST, seed, 0])
    started_from = int(numbers.integers(2**31))
    observations, actions, total, done = [task.reset(started_from)], [], 0.0, False
    terminated = False
    while not done:
        cumulative = policy.probabilities(observations[-1]).astype(float).cumsum()
        drawn = np.searchsorted(cumulative, numbers.random() * cumulative[-1], side="right")
        actions.append(min(int(drawn), task.spec.actions - 1))
        observation, reward, terminated, truncated = task.step(actions[-1])
        observations.append(observation)
        total, done = total + reward, terminated or truncated
    return _Played(np.stack(observations), actions, total, terminated, started_from)


def _draw(name: str, played: _Played, most: int) -> Film:
    shown = picture_of(name, played.observations)
    kept, milliseconds = _kept(len(played.observations), shown.steps_per_second, most)
    pictures = [shown.draw(played.observations[step]) for step in kept]
    return Film(pictures, milliseconds, played.total, len(played.actions), played.ended)


def _render(name: str, task: HostEnvironment, played: _Played, most: int) -> Film:
    """Play the episode again in a simulator that renders, now that it is known which pictures are kept; one
    that cannot is shown as the numbers observed."""
    stage = _stage(name, task.max_steps)
    if stage is None:
        return _draw(name, played, most)
    try:
        kept, milliseconds = _kept(len(played.observations), stage.metadata.get("render_fps", 30), most)
        stage.reset(seed=played.started_from)
        pictures = []
        for step in range(len(played.observations)):
            if step in kept:
                pictures.append(_small(stage.render()))
            if step < len(played.actions):
                stage.step(int(stage.action_space.start) + played.actions[step])
    finally:
        stage.close()
    return Film(pictures, milliseconds, played.total, len(played.actions), played.ended)


def _stage(name: str, max_steps: int) -> Any:
    """A simulator that renders into memory, which needs no display; None where the task cannot."""
    import gymnasium

    for variable, value in QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        stage = gymnasium.make(
            name, max_episode_steps=max_steps, render_mode="rgb_array", disable_env_checker=True
        )
    except (gymnasium.error.Error, ImportError) as error:
        raise UserError(f"Gymnasium cannot render {name}: {' '.join(str(error).split())}") from error
    if "rgb_array" in stage.metadata.get("render_modes", ()):
        return stage
    stage.close()
    return None


def _kept(count: int, steps_per_second: float, most: int = PICTURES_AT_MOST) -> tuple[list[int], int]:
    """Which of ``count`` pictures to keep, the last among them, and the milliseconds of each."""
    every = max(ceil(steps_per_second / PICTURES_PER_SECOND), ceil(count / most))
    # GIFs count in hundredths of a second.
    own = round(100 * every / steps_per_second) * 10
    milliseconds = own if every == 1 else min(SLOWEST, own)
    return list(range(count - 1, -1, -every))[::-1], milliseconds


def _small(pixels: NDArray[np.uint8]) -> Image.Image:
    image = Image.fromarray(np.asarray(pixels, np.uint8))
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)


def _one_palette(pictures: list[Image.Image]) -> list[Image.Image]:
    """The pictures in the same few colours, so that what stands still costs nothing."""
    sample = pictures[:: ceil(len(pictures) / 6)]
    width, height = sample[0].size
    sheet = Image.new("RGB", (width, height * len(sample)))
    for row, picture in enumerate(sample):
        sheet.paste(picture, (0, row * height))
    palette = sheet.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def _encode(pictures: list[Image.Image], milliseconds: int) -> bytes:
    buffer = BytesIO()
    first, *rest = pictures
    durations = [*[milliseconds] * len(rest), LAST]
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=False)
    return buffer.getvalue()
