"""Which experiments the kernel can run, and where; everything else goes to XLA."""

from typing import Any

import jax

from offnac.actor_critic import ActorCritic
from offnac.critics import TD
from offnac.directions import Iterative, Vanilla
from offnac.environments.environment import Environment
from offnac.environments.gymnax import GymnaxEnvironment
from offnac.networks import MLP
from offnac.optimisers import SGD, Adam
from offnac.ratios import Kernel, One
from offnac.ratios.kernel import published
from offnac.steps import Free
from offnac.training.on_chip.networks import power_of_two
from offnac.training.on_chip.tasks import TASKS
from offnac.training.protocol import Protocol

LARGEST = 64
"""Units of a layer: more do not fit into the registers."""


def has_compiler() -> bool:
    """Whether this is a GPU that the kernel can be compiled for: NVIDIA's, from Ampere on."""
    capability = getattr(jax.devices()[0], "compute_capability", None)
    return capability is not None and float(capability) >= 8.0


def fits(environment: Environment, algorithm: ActorCritic, protocol: Protocol) -> bool:
    """Whether it is one of the tasks, learned from step by step by networks of the paper's kind."""
    return (
        isinstance(environment, GymnaxEnvironment)
        and environment.name in TASKS
        and protocol.replay is None
        and protocol.mean is None
        and protocol.shaping is None
        and algorithm.entropy is None
        and _perceptron(algorithm.policy.network, layers=1, activation="tanh", bias=False)
        and _values(algorithm.critic)
        and _moves(algorithm)
        and _weighs(algorithm, protocol)
    )


def _perceptron(network: Any, layers: int, activation: str, bias: bool) -> bool:
    return (
        isinstance(network, MLP)
        and len(network.hidden) == layers
        and all(size == power_of_two(size) <= LARGEST for size in network.hidden)
        and (network.activation, network.bias, network.output) == (activation, bias, "linear")
    )


def _values(critic: Any) -> bool:
    return (
        isinstance(critic, TD)
        and (critic.target_rate, critic.unit, critic.bounded) == (None, None, False)
        and _perceptron(critic.network, layers=2, activation="relu", bias=True)
        and isinstance(critic.optimiser, Adam)
    )


def _moves(algorithm: ActorCritic) -> bool:
    """Adams correct their moments by the critic's numbers, which are computed once."""
    critic, direction, step = algorithm.critic, algorithm.direction, algorithm.step
    if not isinstance(step, Free) or not isinstance(direction, Vanilla | Iterative):
        return False
    assert isinstance(critic, TD) and isinstance(critic.optimiser, Adam)
    decays = (critic.optimiser.b1, critic.optimiser.b2)
    optimisers = [step.optimiser] + ([direction.optimiser] if isinstance(direction, Iterative) else [])
    return all(
        isinstance(one, SGD) or (isinstance(one, Adam) and (one.b1, one.b2) == decays) for one in optimisers
    )


def _weighs(algorithm: ActorCritic, protocol: Protocol) -> bool:
    """No ratios on-policy, the published ones off-policy."""
    pair: tuple[Any, ...] = (algorithm.ratios.w_hat, algorithm.ratios.w)
    if not protocol.off_policy:
        return all(isinstance(one, One) for one in pair)
    return protocol.ratio_steps > 0 and all(
        isinstance(one, Kernel) and isinstance(one.optimiser, Adam) and one == published(form, one.optimiser)
        for one, form in zip(pair, ("stationary", "discounted"), strict=True)
    )
