"""The rules that are written out for the kernel are gymnax's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac.environments import make
from offnac.environments.gymnax import constants
from offnac.training.on_chip.numbers import Words, stream, uniform
from offnac.training.on_chip.tasks import TASKS

STEPS = 400


@pytest.mark.parametrize("name", TASKS)
def test_each_step_is_gymnaxs(name):
    """One step from each state of a long random walk, the ends of episodes included."""
    task, rules, parameters = make(name, max_steps=10_000), TASKS[name], constants(name)

    def body(carry, key):
        state, action_key, reset_key = carry, *jax.random.split(key)
        action = jax.random.randint(action_key, (), 0, task.spec.actions)
        theirs = task.step(state, action, key)
        numbers = tuple(getattr(state, field) for field in fields)
        after, reward, terminated = rules.step(parameters, numbers, action)
        ours = (jnp.stack(rules.observe(after)), reward, terminated)
        begun = task.reset(reset_key)[0]
        following = jax.tree.map(lambda new, old: jnp.where(theirs[3], new, old), begun, theirs[0])
        return following, (theirs[1:4], ours)

    first = task.reset(jax.random.key(0))[0]
    fields = [field for field in first.__dataclass_fields__ if field != "time"]
    keys = jax.random.split(jax.random.key(1), STEPS)
    _, (theirs, ours) = jax.jit(lambda: jax.lax.scan(body, first, keys))()
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", TASKS)
def test_starts_are_spread_like_gymnaxs(name):
    task, rules = make(name), TASKS[name]
    key = Words(jnp.uint32(3), jnp.uint32(4))

    def ours(episode):
        numbers = stream(key, episode, 1)
        return jnp.stack(rules.observe(rules.start(constants(name), lambda i: uniform(numbers, i))))

    mine = jax.jit(jax.vmap(ours))(jnp.arange(4000))
    theirs = jax.jit(jax.vmap(lambda key: task.reset(key)[1]))(jax.random.split(jax.random.key(0), 4000))
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    spread = theirs.std(0) + 1e-6
    np.testing.assert_allclose((mine.mean(0) - theirs.mean(0)) / spread, 0.0, atol=0.1)
    np.testing.assert_allclose(mine.std(0) / spread, theirs.std(0) / spread, atol=0.1)


def test_hashed_numbers_are_uniform_and_unrelated():
    key = Words(jnp.uint32(7), jnp.uint32(11))
    streams = [stream(key, jnp.int32(5), purpose) for purpose in range(2)]
    draw = jax.jit(lambda numbers: jax.vmap(lambda i: uniform(numbers, i))(jnp.arange(20_000)))
    drawn = [np.asarray(draw(numbers)) for numbers in streams]
    counts = np.histogram(drawn[0], bins=20, range=(0.0, 1.0))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 50  # χ² of 19 degrees of freedom: one in 10 000
    assert abs(np.corrcoef(drawn[0][:-1], drawn[0][1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(drawn[0], drawn[1])[0, 1]) < 0.03
