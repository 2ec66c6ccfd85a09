import os
from collections.abc import Iterator

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

from offnac.networks import MLP, initialise  # noqa: E402
from offnac.saved_policy import Policy  # noqa: E402
from offnac.transition import Spec  # noqa: E402

pytest_plugins = ["browser"]


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
