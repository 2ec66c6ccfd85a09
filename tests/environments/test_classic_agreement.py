"""The JAX-native classic control tasks against Gymnasium's own, transition by transition."""

import math

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.environments import gymnax

TRANSITIONS = 10_000
BORDER = 1e-6
"""Gymnasium computes in 64 bits: a state this close to a threshold may round to its other side in 32."""


def cartpole_border(s):
    x, _, theta, _ = s
    return min(abs(abs(x) - 2.4), abs(abs(theta) - math.radians(12)))


def acrobot_border(s):
    return abs(-math.cos(s[0]) - math.cos(s[0] + s[1]) - 1)


def mountain_car_border(s):
    position, velocity = s
    return min(abs(position - 0.5), abs(velocity) if position >= 0.5 else 1)


# name: fields of gymnax's state, the one whose sign a swing follows, time limit, distance to a threshold
TASKS = {
    "CartPole-v1": (("x", "x_dot", "theta", "theta_dot"), None, 25, cartpole_border),
    "Acrobot-v1": (("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"), 3, 120, acrobot_border),
    "MountainCar-v0": (("position", "velocity"), 1, 140, mountain_car_border),
}


def visit(name, swing, limit, border):
    """Random transitions of Gymnasium; a swing in most of the actions, where chance alone reaches no goal."""
    task = gymnasium.make(name, max_episode_steps=limit, disable_env_checker=True)
    rng = np.random.default_rng(1)

    def reset():
        task.reset(seed=int(rng.integers(1 << 30)))
        if name == "CartPole-v1" and rng.random() < 0.5:
            task.unwrapped.state *= [47, 47, 1, 1]  # near the ends of the track, which it seldom leaves

    rows = []
    reset()
    for _ in range(TRANSITIONS):
        state = np.asarray(task.unwrapped.state, np.float32)
        steps = task.get_wrapper_attr("_elapsed_steps")
        action = int(rng.integers(task.action_space.n))
        if swing is not None and rng.random() < 0.9:
            action = 2 * int(state[swing] > 0)
        task.unwrapped.state = state.astype(np.float64)
        seen = task.step(action)[:-1]
        rows.append((state, steps, action, *seen, border(task.unwrapped.state)))
        if seen[2] or seen[3]:
            reset()
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", TASKS)
def test_transitions_agree_with_gymnasium(name):
    fields, swing, limit, border = TASKS[name]
    state, steps, action, observation, reward, terminated, truncated, distance = visit(
        name, swing, limit, border
    )
    environment = gymnax.load(name, limit)

    def step(s, time, a):
        template, _ = environment.reset(jax.random.key(0))
        start = template.replace(**dict(zip(fields, s, strict=True)), time=time)
        return environment.step(start, a, jax.random.key(0))[1:]

    ours = jax.jit(jax.vmap(step))(jnp.array(state), jnp.array(steps), jnp.array(action))
    clear = distance > BORDER
    assert np.sum(~clear) <= 3
    assert terminated.sum() >= 10
    assert truncated.sum() >= 10
    np.testing.assert_allclose(ours[0][clear], observation[clear], rtol=0, atol=1e-5)
    for mine, theirs in zip(ours[1:], (reward, terminated, truncated), strict=True):
        np.testing.assert_array_equal(mine[clear], theirs[clear])


def test_both_flags_are_raised_when_the_task_ends_on_its_last_step():
    environment = gymnax.load("CartPole-v1", 1)
    template, _ = environment.reset(jax.random.key(0))
    falling = template.replace(theta=jnp.float32(0.2), theta_dot=jnp.float32(3.0))
    _, _, reward, terminated, truncated = environment.step(falling, jnp.array(1), jax.random.key(0))
    assert (bool(terminated), bool(truncated), float(reward)) == (True, True, 1.0)


@pytest.mark.parametrize("name", TASKS)
def test_time_limits_and_starts_are_gymnasiums(name):
    environment = gymnax.load(name)
    task = gymnasium.make(name)
    assert environment.max_steps == task.spec.max_episode_steps
    starts = jax.vmap(lambda key: environment.reset(key)[1])(jax.random.split(jax.random.key(0), 2000))
    theirs = np.array([task.reset(seed=seed)[0] for seed in range(2000)])
    spread = theirs.max(axis=0) - theirs.min(axis=0)
    np.testing.assert_allclose(starts.min(axis=0), theirs.min(axis=0), atol=0.01 * spread.max())
    np.testing.assert_allclose(starts.max(axis=0), theirs.max(axis=0), atol=0.01 * spread.max())
