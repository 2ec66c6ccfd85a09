"""A learned policy as a folder (``policy.safetensors``, ``policy.json``) and as an object that acts.

Loading one never runs code from it: the JSON names a known network, the
tensors are plain arrays.
"""

import math
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as serialise

from offnac import files
from offnac.agent import Agent, agent
from offnac.behaviour import Acting
from offnac.errors import UserError
from offnac.networks import MLP, Network, Parameters, evaluate, size, structure
from offnac.policy import SoftmaxPolicy
from offnac.provenance import now, versions
from offnac.transition import Spec

FORMAT = "offnac-policy"
NETWORKS: dict[str, Any] = {"MLP": MLP}
"""Networks that a policy folder may name."""


@dataclass(frozen=True)
class Policy:
    """π_θ with all that is needed to act: network, θ, observation normalisation, spec."""

    network: Network
    theta: Parameters
    spec: Spec
    mean: Float[Array, " d"] | None = None
    scale: Float[Array, " d"] | None = None
    """Observations enter the network as (s − mean)/scale."""
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def softmax(self) -> SoftmaxPolicy:
        return SoftmaxPolicy(self.network)

    def probabilities(self, observation: ArrayLike) -> NDArray[np.float32]:
        """π(·|s) for one observation [d] or a batch [n, d]."""
        rows, single = self._rows(observation)
        pi = np.asarray(_probabilities(self.acting(), rows))
        return pi[0] if single else pi

    def act(self, observation: ArrayLike, key: Any = None) -> Any:
        """An action a ~ π(·|s) for one observation, or an array of them for a batch. ``key`` is a NumPy
        generator, a JAX key or a whole number; without one the most probable action is taken."""
        rows, single = self._rows(observation)
        if key is None:
            actions = np.argmax(self.probabilities(rows), axis=-1)
        else:
            if isinstance(key, np.random.Generator):
                key = key.integers(2**32, dtype=np.uint32)
            elif isinstance(key, int | np.integer):
                key = jax.random.key(key)
            actions = np.asarray(_sample(self.acting(), rows, key))
        return int(actions[0]) if single else actions

    __call__ = act

    def agent(self, environment: Any, seed: int | None = None) -> Agent:
        """The policy in a Gymnasium environment, one or a vector of them: it takes observations as they
        come and gives actions as the environment numbers them."""
        return agent(self, environment, seed)

    def acting(self, epsilon: float | None = None) -> Acting:
        """The policy as a behaviour in a simulator, mixed with a share of uniform actions."""
        return Acting(self.softmax, self.theta, self.mean, self.scale, epsilon)

    def save(self, folder: Path | str) -> None:
        """Write the folder, whole or not at all."""
        network: Any = self.network
        with files.replacing(Path(folder)) as temporary:
            temporary.mkdir()
            tensors = serialise(_tensors(self.network, self.theta))
            (temporary / "policy.safetensors").write_bytes(tensors)
            files.write_json(
                temporary / "policy.json",
                {
                    "format": FORMAT,
                    "format_version": 1,
                    "network": {"type": type(network).__name__, **asdict(network)},
                    "observation": {"mean": _plain(self.mean), "scale": _plain(self.scale)},
                    "spec": asdict(self.spec),
                    "provenance": self.provenance,
                    "versions": versions(),
                    "date": now(),
                },
            )

    def _rows(self, observation: ArrayLike) -> tuple[NDArray[np.float32], bool]:
        rows = np.asarray(observation, np.float32)
        single = rows.ndim == 1
        rows = np.atleast_2d(rows)
        if rows.ndim != 2 or rows.shape[1] != self.spec.observation_size:
            raise UserError(
                f"this policy expects observations of {self.spec.observation_size} numbers, "
                f"but an array of shape {np.shape(observation)} came"
            )
        return rows, single


@jax.jit
def _probabilities(pi: Acting, rows: Array) -> Array:
    return jnp.exp(pi.policy.log_probabilities(pi.theta, pi.normalised(rows)))


@jax.jit
def _sample(pi: Acting, rows: Array, key: Array) -> Array:
    key = key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.key(key)
    return pi.policy.sample(pi.theta, pi.normalised(rows), key)[0]


def load_policy(folder: Path | str, network: Network | None = None) -> Policy:
    """Load a policy folder. A ``network`` of your own must be given as it was trained."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(
            f"a policy is a folder, but {folder} is not one; give the folder that holds policy.json"
        )
    description = files.read_json(folder / "policy.json")
    try:
        if description["format"] != FORMAT:
            raise KeyError("format")
        network = network or _network(description["network"], folder)
        spec = Spec(**description["spec"])
        mean, scale = (_array(description["observation"][name]) for name in ("mean", "scale"))
        _require_fit(network, spec, mean, scale)
    except (KeyError, TypeError, ValueError) as error:
        trouble = " ".join(str(error).split())
        raise UserError(
            f"{folder / 'policy.json'} does not describe an offnac policy (trouble with {trouble}); "
            "give a folder that offnac wrote"
        ) from error
    return Policy(network, _theta(network, folder), spec, mean, scale, description.get("provenance", {}))


def _network(description: dict[str, Any], folder: Path) -> Network:
    members = dict(description)
    name = members.pop("type")
    if name not in NETWORKS:
        raise UserError(
            f"the policy in {folder} uses the network '{name}', which offnac does not know; "
            "load it in Python with load_policy(folder, network=...)"
        )
    tuples = {key: tuple(value) if isinstance(value, list) else value for key, value in members.items()}
    return NETWORKS[name](**tuples)


def _require_fit(network: Network, spec: Spec, mean: Array | None, scale: Array | None) -> None:
    """Network and normalisation must be made for the task's observations and actions."""
    theta = jax.ShapeDtypeStruct((size(network),), jnp.float32)
    observation = jax.ShapeDtypeStruct((1, spec.observation_size), jnp.float32)
    if jax.eval_shape(partial(evaluate, network), theta, observation).shape != (1, spec.actions):
        raise ValueError("the network's outputs")
    if mean is None and scale is None:
        return
    if mean is None or scale is None or not mean.shape == scale.shape == (spec.observation_size,):
        raise ValueError("the sizes of mean and scale")
    if not bool(jnp.all(jnp.isfinite(mean) & jnp.isfinite(scale) & (scale > 0))):
        raise ValueError("the numbers in mean and scale")


def _shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """The names, such as ``layers.0.weight``, and shapes of θ's arrays, in θ's order."""
    named = jax.tree_util.tree_leaves_with_path(structure(network)[0])
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf.shape for path, leaf in named}


def _tensors(network: Network, theta: Parameters) -> dict[str, NDArray[Any]]:
    shapes = _shapes(network)
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    pieces = np.split(np.asarray(theta), ends)
    return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}


def _theta(network: Network, folder: Path) -> Parameters:
    path = folder / "policy.safetensors"
    try:
        tensors = load_file(path)
    except FileNotFoundError as error:
        raise UserError(f"{path} is not there; the policy folder is incomplete") from error
    except (SafetensorError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); it is damaged, save the policy again") from error
    expected = _shapes(network)
    came = {name: tensor.shape for name, tensor in tensors.items()}
    if came != expected or not all(tensor.dtype.kind == "f" for tensor in tensors.values()):
        raise UserError(
            f"{path} should hold the tensors {expected}, but it holds {came}; it is another network's"
        )
    theta = jnp.concatenate([jnp.ravel(tensors[name]) for name in expected])
    if not bool(jnp.all(jnp.isfinite(theta))):
        raise UserError(f"{path} holds numbers that are not finite; the training diverged, train again")
    return theta


def _plain(array: Array | None) -> list[float] | None:
    return None if array is None else np.asarray(array).tolist()


def _array(values: list[float] | None) -> Array | None:
    return None if values is None else jnp.asarray(values, jnp.float32)
