"""Films show the episode that evaluation counts, are the same for the same seed, and stay small."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from offnac import environments
from offnac.errors import UserError
from offnac.evaluation import rollout
from offnac.report import animation, canvas, drawing, pictures
from offnac.transition import Spec

STEPS = {"CartPole-v1": 60, "Acrobot-v1": 40, "MountainCar-v0": 150, "LunarLander-v3": 120}


@pytest.fixture(scope="module")
def films(policy_of):
    return {name: animation.record(policy_of(name), name, 3, steps) for name, steps in STEPS.items()}


@pytest.mark.parametrize("name", STEPS)
def test_a_film_shows_the_first_test_episode(films, policy_of, name):
    task = environments.make(name, STEPS[name])
    assert films[name].total == pytest.approx(rollout.returns(task, policy_of(name), 1, 3)[0])
    assert films[name].steps <= STEPS[name]


@pytest.mark.parametrize("name", STEPS)
def test_a_film_is_a_small_gif_that_goes_on_for_ever(films, name):
    data = films[name].gif()
    assert len(data) <= animation.BYTES
    with Image.open(BytesIO(data)) as gif:
        assert gif.format == "GIF"
        assert gif.info["loop"] == 0
        assert gif.n_frames > 10
        assert gif.size[0] == canvas.WIDTH
    with Image.open(BytesIO(films[name].still())) as still:
        assert still.format == "PNG"
        assert still.size == gif.size


def test_the_same_seed_gives_the_same_film(policy_of):
    policy = policy_of("CartPole-v1")
    first, again, other = (animation.record(policy, "CartPole-v1", seed, 30).gif() for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_a_film_that_is_too_large_loses_pictures_but_not_its_end(films):
    film = films["CartPole-v1"]
    whole = film.gif()
    half = film.gif(most=len(whole) - 1)
    assert len(half) < len(whole)
    with Image.open(BytesIO(whole)) as one, Image.open(BytesIO(half)) as other:
        assert other.n_frames <= (one.n_frames + 1) // 2 + 1
        one.seek(one.n_frames - 1)
        other.seek(other.n_frames - 1)
        assert np.array_equal(np.asarray(one.convert("RGB")), np.asarray(other.convert("RGB")))


def test_a_long_episode_runs_fast_and_keeps_its_last_picture():
    kept, milliseconds = animation._kept(10_001, 30)
    assert len(kept) <= animation.PICTURES_AT_MOST
    assert kept[-1] == 10_000
    assert milliseconds == animation.SLOWEST
    assert animation._kept(101, 50) == (list(range(0, 101, 2)), 40)


def test_what_cannot_be_filmed_is_refused(policy_of):
    with pytest.raises(UserError, match="made for MountainCar-v0"):
        animation.record(policy_of("MountainCar-v0"), "CartPole-v1")
    other = replace(policy_of("MountainCar-v0"), spec=Spec("other", 2, 3))
    assert animation.record(other, "MountainCar-v0", 0, 5).steps == 5


def colour_at(image: Image.Image, x: float, y: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*image.getpixel((round(x), round(y))))


def test_cartpole_is_drawn_where_it_is():
    image = drawing.cartpole([1.0, 0, np.pi / 2, 0])
    assert colour_at(image, 180 + 72 * 0.8, 190 - 72 * 0.1) == canvas.BODY
    assert colour_at(image, 180 + 72 * 1.8, 190 - 72 * 0.14) == canvas.LIMB  # fallen to the right
    assert colour_at(image, 180 - 72 * 0.8, 190 - 72 * 0.1) == canvas.PAPER


def test_acrobot_hangs_down_and_bends():
    hanging = drawing.acrobot([1, 0, 1, 0, 0, 0])
    assert colour_at(hanging, 180, 120 + 52 * 0.5) == canvas.BODY
    assert colour_at(hanging, 180, 120 + 52 * 1.5) == canvas.LIMB
    bent = drawing.acrobot([1, 0, 0, 1, 0, 0])  # the second link a quarter turn on: to the right
    assert colour_at(bent, 180 + 52 * 0.5, 120 + 52) == canvas.LIMB


@pytest.mark.parametrize("position", [-1.2, -0.5, 0.5])
def test_the_mountain_car_stands_on_its_road(position):
    image = drawing.mountain_car([position, 0.0])
    x, y = 240 + 180 * position, 150 - 180 * 0.4 * np.sin(3 * position)
    near = [colour_at(image, x + dx, y + dy) for dx in range(-12, 13) for dy in range(-20, 1)]
    assert near.count(canvas.LIMB) > 40
    assert colour_at(image, x, y + 12) == canvas.GROUND


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_every_picture_shows_a_difference_between_states(name):
    """Drawn from the observation alone, so that another observation is another picture."""
    size = environments.make(name).spec.observation_size
    one, other = np.zeros(size), np.zeros(size)
    one[0], other[-1] = 1.0, 1.0
    if name == "FourRooms-misc":
        one, other = [1, 1, 8, 9], [2, 1, 8, 9]
    if name == "CartPole-v1":
        other = np.array([0.0, 0.0, 1.0, 0.0])
    if name == "Acrobot-v1":
        other = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    draw = pictures.PICTURES[name].draw
    assert draw(one).size == (canvas.WIDTH, canvas.HEIGHT)
    assert np.any(np.asarray(draw(one)) != np.asarray(draw(other)))


def test_a_task_without_a_picture_is_shown_as_its_numbers():
    seen = np.array([[0.0, -2.0, 5.0], [1.0, 2.0, np.inf]], np.float32)
    shown = pictures.picture_of("somebody/Else-v0", seen)
    up, down = (colour_at(shown.draw(row), 180, y) for row, y in ((seen[1], 60), (seen[0], 180)))
    assert (up, down) == (canvas.BODY, canvas.LIMB)


def test_a_higher_layer_of_a_board_lies_on_top():
    observation = np.zeros((10, 10, 4))
    observation[5, 5, 0] = 1
    below = pictures.PICTURES["Breakout-MinAtar"].draw(observation.ravel())
    observation[5, 5, 2] = 1
    above = pictures.PICTURES["Breakout-MinAtar"].draw(observation.ravel())
    middle = (canvas.WIDTH / 2 + 10, canvas.HEIGHT / 2 + 10)
    assert colour_at(below, *middle) == canvas.BODY
    assert colour_at(above, *middle) == canvas.GOAL
