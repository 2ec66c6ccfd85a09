"""The JAX-native tasks of the paper, number by number.

A kernel has no arrays of odd sizes, and gymnax makes some at each step, so the rules are written out here
over single numbers. The constants are gymnax's own, and a test plays both side by side. (A number that is
always the same is computed nevertheless: a kernel's operations want values, not literals.)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

Number = Float[Array, ""]
State = tuple[Number, ...]
Draw = Callable[[int], Number]
"""The i-th of a few numbers that are uniform in [0, 1)."""


class Rules(NamedTuple):
    start: Callable[[Any, Draw], State]
    """s₀ ~ d₀, by the task's constants."""
    observe: Callable[[State], tuple[Number, ...]]
    step: Callable[[Any, State, Int[Array, ""]], tuple[State, Number, Bool[Array, ""]]]
    """(state, reward, terminated)"""


def _four_within(limit: float) -> Callable[[Any, Draw], State]:
    return lambda p, draw: tuple((2.0 * draw(i) - 1.0) * limit for i in range(4))


def _cartpole(p: Any, state: State, action: Int[Array, ""]) -> tuple[State, Number, Bool[Array, ""]]:
    x, x_dot, theta, theta_dot = state
    right = action.astype(jnp.float32)
    force = p.force_mag * right - p.force_mag * (1.0 - right)
    cos, sin = jnp.cos(theta), jnp.sin(theta)
    temp = (force + p.polemass_length * theta_dot * theta_dot * sin) / p.total_mass
    theta_acc = (p.gravity * sin - cos * temp) / (
        p.length * (4.0 / 3.0 - p.masspole * cos * cos / p.total_mass)
    )
    x_acc = temp - p.polemass_length * theta_acc * cos / p.total_mass
    x, x_dot = x + p.tau * x_dot, x_dot + p.tau * x_acc
    theta, theta_dot = theta + p.tau * theta_dot, theta_dot + p.tau * theta_acc
    fallen = (jnp.abs(x) > p.x_threshold) | (jnp.abs(theta) > p.theta_threshold_radians)
    return (x, x_dot, theta, theta_dot), 0.0 * right + 1.0, fallen


def _mountain_car(p: Any, state: State, action: Int[Array, ""]) -> tuple[State, Number, Bool[Array, ""]]:
    position, velocity = state
    velocity = velocity + (action.astype(jnp.float32) - 1.0) * p.force - jnp.cos(3.0 * position) * p.gravity
    velocity = jnp.clip(velocity, -p.max_speed, p.max_speed)
    position = jnp.clip(position + velocity, p.min_position, p.max_position)
    at_wall = (position <= np.float32(p.min_position)) & (velocity < 0.0)
    velocity = velocity * (1.0 - at_wall.astype(jnp.float32))
    reached = (position >= p.goal_position) & (velocity >= p.goal_velocity)
    return (position, velocity), 0.0 * position - 1.0, reached


def _acrobot(p: Any, state: State, action: Int[Array, ""]) -> tuple[State, Number, Bool[Array, ""]]:
    torque = action.astype(jnp.float32) - 1.0

    def along(a: State, k: State, h: float) -> State:
        return tuple(one + h * slope for one, slope in zip(a, k, strict=True))

    k1 = _acrobot_slope(p, state, torque)
    k2 = _acrobot_slope(p, along(state, k1, p.dt / 2.0), torque)
    k3 = _acrobot_slope(p, along(state, k2, p.dt / 2.0), torque)
    k4 = _acrobot_slope(p, along(state, k3, p.dt), torque)
    slope = tuple(a + 2.0 * b + 2.0 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    first, second, v1, v2 = along(state, slope, p.dt / 6.0)
    first, second = _wrap(first), _wrap(second)
    v1, v2 = jnp.clip(v1, -p.max_vel_1, p.max_vel_1), jnp.clip(v2, -p.max_vel_2, p.max_vel_2)
    above = -jnp.cos(first) - jnp.cos(second + first) > 1.0
    return (first, second, v1, v2), above.astype(jnp.float32) - 1.0, above


def _acrobot_slope(p: Any, state: State, torque: Number) -> State:
    first, second, v1, v2 = state
    m1, m2, l1, lc1, lc2 = p.link_mass_1, p.link_mass_2, p.link_length_1, p.link_com_pos_1, p.link_com_pos_2
    cos, sin, gravity = jnp.cos(second), jnp.sin(second), 9.8
    d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos) + 2 * p.link_moi
    d2 = m2 * (lc2**2 + l1 * lc2 * cos) + p.link_moi
    phi2 = m2 * lc2 * gravity * jnp.cos(first + second - np.pi / 2.0)
    phi1 = (
        -m2 * l1 * lc2 * v2 * v2 * sin
        - 2 * m2 * l1 * lc2 * v2 * v1 * sin
        + (m1 * lc1 + m2 * l1) * gravity * jnp.cos(first - np.pi / 2.0)
        + phi2
    )
    a2 = (torque + d2 / d1 * phi1 - m2 * l1 * lc2 * v1 * v1 * sin - phi2) / (
        m2 * lc2**2 + p.link_moi - d2 * d2 / d1
    )
    return v1, v2, -(d2 * a2 + phi1) / d1, a2


def _wrap(angle: Number) -> Number:
    """Into [−π, π) by at most one turn; whatever is left over, only its sine and cosine are looked at."""
    turn, half = np.float32(2.0 * np.pi), np.float32(np.pi)
    angle = jnp.where(angle < -half, angle + turn, angle)
    return jnp.where(angle >= half, angle - turn, angle)


TASKS = {
    "CartPole-v1": Rules(_four_within(0.05), lambda state: state, _cartpole),
    "Acrobot-v1": Rules(
        _four_within(0.1),
        lambda s: (jnp.cos(s[0]), jnp.sin(s[0]), jnp.cos(s[1]), jnp.sin(s[1]), s[2], s[3]),
        _acrobot,
    ),
    "MountainCar-v0": Rules(
        lambda p, draw: (0.2 * draw(0) - 0.6, 0.0 * draw(0)), lambda state: state, _mountain_car
    ),
}
