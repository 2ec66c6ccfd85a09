"""The kernel does what the reference program does, where it is asked to, and survives being interrupted."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import presets
from offnac.environments import make
from offnac.environments.gymnax import constants
from offnac.training import batched, on_chip
from offnac.training.on_chip.moment import FIRST_ACTION, Purpose
from offnac.training.on_chip.numbers import stream, uniform, words
from offnac.training.on_chip.tasks import TASKS
from offnac.training.protocol import Experiment, start
from offnac.transition import Transition

CELLS = (("CartPole-v1", "nac"), ("MountainCar-v0", "offac"))
MAX_STEPS = 60
QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Compiled in less time than it saves here."""


def settings_of(name, algorithm):
    task = make(name, max_steps=MAX_STEPS)
    experiment = presets.experiment("published", algorithm, task.spec)
    # γ = 1 keeps every row of a rollout: which are kept is drawn from other numbers in the reference.
    built = (
        replace(experiment.algorithm, gamma=1.0) if experiment.protocol.off_policy else experiment.algorithm
    )
    return task, built, experiment.protocol


def begin(settings, seeds=2):
    task, algorithm, protocol = settings
    keys = jax.random.split(jax.random.key(3), seeds)
    return jax.vmap(lambda key: start(algorithm, protocol, task.spec, key))(keys)


@pytest.fixture(scope="module", params=CELLS, ids=lambda cell: cell[1])
def cell(request):
    settings = settings_of(*request.param)
    lowered = on_chip.chunk.lower(*settings, begin(settings), 1, capacity=4, interpret=True)
    return settings, partial(lowered.compile(QUICKLY), *settings)


def reference_episode(settings, run):
    """Episode 0 by the reference's own update and gymnax, on the kernel's random numbers."""
    task, algorithm, protocol = settings
    actions, key = task.spec.actions, words(run.key)

    def reset(purpose):
        numbers = stream(key, jnp.int32(0), purpose)
        blank, _ = task.reset(jax.random.key(0))
        drawn = TASKS[task.name].start(constants(task.name), lambda i: uniform(numbers, i))
        fields = [field for field in blank.__dataclass_fields__ if field != "time"]
        state = blank.replace(**dict(zip(fields, drawn, strict=True)))
        return numbers, state, jnp.stack(TASKS[task.name].observe(drawn))

    def advance(learner, numbers, state, observation, t):
        number = uniform(numbers, t + FIRST_ACTION)
        pi = jnp.exp(algorithm.policy.log_probabilities(learner.theta, observation[None])[0])
        action, prob = jnp.sum(number >= jnp.cumsum(pi)[:-1]), 0.0
        if protocol.off_policy:
            action, prob = jnp.int32(number * actions), jnp.float32(1.0 / actions)
        else:
            prob = pi[action]
        state, following, reward, terminated, truncated = task.step(state, action, jax.random.key(0))
        row = (observation, action, reward, following, terminated, truncated, prob, t)
        return state, following, Transition(*(jnp.asarray(leaf)[None] for leaf in row))

    def estimate(learner):
        numbers, state, observation = reset(Purpose.RATIOS)

        def body(carry, t):
            state, observation, goes_on = carry
            state, observation, row = advance(learner, numbers, state, observation, t)
            return (state, observation, goes_on * (1.0 - row.terminated[0])), (row, goes_on)

        steps = jnp.arange(protocol.ratio_steps)
        _, (rows, weight) = jax.lax.scan(body, (state, observation, 1.0), steps)
        rows = protocol.as_learned(jax.tree.map(lambda leaf: leaf[:, 0], rows))
        return algorithm.estimate_ratios(learner, rows, observation[None], weight, jax.random.key(0))[0]

    def body(carry):
        learner, state, observation, t, _ = carry
        state, observation, row = advance(learner, numbers, state, observation, t)
        learner, _ = algorithm.update(learner, protocol.as_learned(row))
        return learner, state, observation, t + 1, row.terminated[0] | row.truncated[0]

    learner = estimate(run.learner) if protocol.off_policy else run.learner
    numbers, state, observation = reset(Purpose.TRAIN)
    first = (learner, state, observation, jnp.int32(0), jnp.bool_(False))
    learner, _, _, steps, _ = jax.lax.while_loop(lambda carry: ~carry[4], body, first)
    return learner, steps


def test_an_episode_is_the_references_on_the_same_numbers(cell):
    settings, chunk = cell
    runs = begin(settings)
    reference = jax.jit(jax.vmap(partial(reference_episode, settings))).lower(runs).compile(QUICKLY)
    learner, steps = reference(runs)
    after, records = chunk(runs, 1)
    assert records.train_length[:, 0].tolist() == steps.tolist()
    for ours, theirs in zip(jax.tree.leaves(after.learner), jax.tree.leaves(learner), strict=True):
        if ours is not after.learner.clock.best:
            scale = np.abs(np.nan_to_num(theirs, posinf=0.0, neginf=0.0)).max() + 1e-6
            np.testing.assert_allclose(ours / scale, theirs / scale, atol=2e-4)


def test_a_run_does_not_depend_on_where_it_is_interrupted(cell):
    settings, chunk = cell
    whole, records = chunk(begin(settings), 3)
    halfway, first = chunk(begin(settings), 1)
    resumed, rest = chunk(halfway, 2)
    assert (
        records.train_length[:, :3].tolist()
        == np.hstack([first.train_length[:, :1], rest.train_length[:, :2]]).tolist()
    )
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(resumed), strict=True):
        if not jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            np.testing.assert_array_equal(one, other)


def test_it_lowers_for_a_gpu():
    settings = settings_of("Acrobot-v1", "offnac")
    runs = jax.eval_shape(lambda: begin(settings, 4))
    lowered = on_chip.chunk.trace(*settings, runs, 1, 4).lower(lowering_platforms=("cuda",))
    assert "xla.gpu.triton" in lowered.as_text()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("algorithm", presets.ALGORITHMS)
def test_the_published_experiments_fit(name, algorithm):
    assert on_chip.fits(*settings_of(name, algorithm))


@pytest.mark.parametrize(
    "preset, algorithm, changes",
    [
        ("robust", "nac", {}),
        ("paper", "offnac", {}),
        ("published", "nac", {"lam": 0.5}),
        ("theory", "ac", {}),
    ],
)
def test_others_go_to_xla(preset, algorithm, changes):
    task = make("CartPole-v1")
    experiment = presets.experiment(preset, algorithm, task.spec, **changes)
    assert not on_chip.fits(task, experiment.algorithm, experiment.protocol)


@pytest.mark.parametrize(
    ("compiles", "wanted", "takes"), [(True, "1", "kernel"), (True, "", "XLA"), (False, "1", "XLA")]
)
def test_training_takes_the_kernel_where_there_is_one_and_it_is_asked_for(
    monkeypatch, compiles, wanted, takes
):
    taken = []
    monkeypatch.setenv(batched.ON_CHIP, wanted)
    monkeypatch.setattr(on_chip, "has_compiler", lambda: compiles)
    monkeypatch.setattr(on_chip, "chunk", lambda *arguments: taken.append("kernel") or stop())
    monkeypatch.setattr(batched, "chunk", lambda *arguments: taken.append("XLA") or stop())

    def stop():
        raise InterruptedError

    task, algorithm, protocol = settings_of("CartPole-v1", "nac")
    with pytest.raises(InterruptedError):
        batched._train(
            task, Experiment(algorithm, protocol, 5), [], begin((task, algorithm, protocol)), [], None, None
        )
    assert taken == [takes]
