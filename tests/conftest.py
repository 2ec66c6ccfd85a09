import gc
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from offnac import compile_cache

# Before JAX is imported. Test processes share what they compile, but for what is compiled sooner than kept.
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
compile_cache.enable()
# Here and in the processes begun from here: most programs run once, on a handful of rows, and take longer to
# compile than to run.
HASTE = "JAX_DISABLE_MOST_OPTIMIZATIONS"
os.environ.setdefault(HASTE, "1")
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_use_fusion_emitters=false".strip()

import jax  # noqa: E402
import pytest  # noqa: E402

from offnac import learning  # noqa: E402
from offnac.evaluation.off_policy.fitted import network  # noqa: E402
from offnac.networks import MLP, initialise  # noqa: E402
from offnac.presets import from_log  # noqa: E402
from offnac.saved_policy import Policy  # noqa: E402
from offnac.training.from_log import potential  # noqa: E402
from offnac.transition import Spec  # noqa: E402

pytest_plugins = ["browser"]

MOST_MAPS = 30_000
"""Of the 65,530 that Linux grants by default."""


@pytest.fixture(autouse=True)
def optimised(request, monkeypatch) -> Iterator[None]:
    """Programs are optimised after all, for tests with the mark of that name."""
    if "optimised" not in request.keywords or os.environ[HASTE] == "0":
        yield
        return
    monkeypatch.setenv(HASTE, "0")
    jax.config.update(HASTE.lower(), False)
    yield
    jax.config.update(HASTE.lower(), True)


@pytest.fixture(autouse=True, scope="module")
def few_programs() -> Iterator[None]:
    """A process may map so many pieces of memory and no more, and every compiled program takes some: in one
    process for all tests compiling would fail in the end."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()
        gc.collect()


@pytest.fixture
def small_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning from logs, and what is fitted to them, as it is, with less of everything: here it must run,
    elsewhere it is tested to be right."""
    sizes = {"batch": 256, "minibatches": 8, "ratio_rows": 128, "held_out_rows": 1024, "model": 16}

    def row_for(rows: int, shaped: bool = False) -> from_log.LogRow:
        return replace(from_log.row_for(rows, shaped), value=(16, 16), model_steps=5, **sizes)

    monkeypatch.setattr(learning, "row_for", row_for)
    monkeypatch.setattr(from_log, "iterations_for", lambda spec, row: 50)
    monkeypatch.setattr(potential, "LEAST", 20)
    monkeypatch.setattr(potential, "MOST", 20)
    monkeypatch.setattr(network, "STEPS", 100)


@pytest.fixture(scope="session")
def cartpole_policy() -> Policy:
    """A policy of CartPole as training begins with, only less even-handed."""
    network = MLP(4, (16,), 2, activation="tanh", bias=False)
    theta = 3.0 * initialise(network, jax.random.key(3))
    return Policy(network, theta, Spec("CartPole-v1", 4, 2), provenance={"seed": 3})


@pytest.fixture(scope="session")
def chain_policy() -> Policy:
    """A policy of the tabular chain that goes right more often than not, state by state differently."""
    network = MLP(8, (), 2, bias=False)
    theta = initialise(network, jax.random.key(1)).at[8:].add(0.5)
    return Policy(network, theta, Spec("tabular-chain", 8, 2))
