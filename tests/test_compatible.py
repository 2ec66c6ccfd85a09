"""Compatible features: products against explicit rows, on any network."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from offnac import compatible
from offnac.actor_critic import ActorCritic
from offnac.critics import TD
from offnac.directions import Iterative, Ridge
from offnac.networks import MLP
from offnac.optimisers import SGD
from offnac.policy import SoftmaxPolicy
from offnac.ratios import One, Ratios
from offnac.schedules import Constant
from offnac.settings import settings, static
from offnac.steps import Free, TrustRegion
from offnac.transition import Spec, Transition

SIDE = 5


@settings
class ConvNet:
    """A network that offnac does not know: a picture in, through a convolution, numbers out."""

    outputs: int = static()
    channels: int = static(2)

    def build(self, key):
        key_conv, key_linear = jax.random.split(key)
        return eqx.nn.Sequential(
            [
                eqx.nn.Lambda(lambda s: s.reshape(1, SIDE, SIDE)),
                eqx.nn.Conv2d(1, self.channels, kernel_size=3, key=key_conv),
                eqx.nn.Lambda(jax.nn.relu),
                eqx.nn.Lambda(jnp.ravel),
                eqx.nn.Linear(self.channels * (SIDE - 2) ** 2, self.outputs, key=key_linear),
            ]
        )


NETWORKS = {
    "linear": MLP(SIDE**2, (), 3, bias=False),
    "tanh": MLP(SIDE**2, (4,), 3),
    "convolution": ConvNet(3),
}


def batch_of(n):
    rng = np.random.default_rng(0)
    return Transition(
        observation=jnp.asarray(rng.normal(size=(n, SIDE**2)), jnp.float32),
        action=jnp.asarray(rng.integers(3, size=n)),
        reward=jnp.asarray(rng.normal(size=n), jnp.float32),
        next_observation=jnp.asarray(rng.normal(size=(n, SIDE**2)), jnp.float32),
        terminated=jnp.asarray(rng.random(n) < 0.5),
        truncated=jnp.zeros(n, bool),
        behaviour_prob=jnp.full(n, 1 / 3, jnp.float32),
        step=jnp.arange(n),
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_products_equal_explicit_rows(name):
    policy, batch = SoftmaxPolicy(NETWORKS[name]), batch_of(8)

    @jax.jit
    def compare(theta, x, c):
        # A third road: the Jacobian of log π of the whole batch.
        Phi = jax.jacobian(lambda t: policy.log_prob(t, batch.observation, batch.action))(theta)
        args = policy, theta, batch
        return [
            (compatible.features(*args), Phi),
            (compatible.advantage(*args, x), Phi @ x),
            (compatible.combine(*args, c), Phi.T @ c),
            (compatible.fisher_product(*args, c, x), Phi.T @ (c * (Phi @ x)) / 8),
            (compatible.curvature(*args, c, x), x @ Phi.T @ (c * (Phi @ x)) / 8),
        ]

    with jax.enable_x64(True):
        batch = jax.tree.map(lambda leaf: leaf.astype(float) if leaf.dtype == jnp.float32 else leaf, batch)
        theta = policy.init(jax.random.key(0))
        x, c = jax.random.normal(jax.random.key(1), theta.shape), jnp.linspace(0.0, 2.0, 8)
        for product, expected in compare(theta, x, c):
            np.testing.assert_allclose(product, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("direction", "step"),
    [
        (Iterative(SGD(Constant(0.05))), Free(SGD(Constant(0.05)))),
        (Ridge(solver="conjugate"), TrustRegion(Constant(1.0), Constant(1e-2))),
    ],
    ids=["iterative", "ridge"],
)
def test_a_convolutional_actor_and_critic_learn(direction, step):
    """Action 0 pays 1, the others nothing: π(0|s) rises everywhere."""
    learner = ActorCritic(
        policy=SoftmaxPolicy(ConvNet(3)),
        ratios=Ratios(One(), One()),
        critic=TD(ConvNet(1), SGD(Constant(0.05))),
        direction=direction,
        step=step,
    )
    # Every action in every state, so that only the actor's own mistakes could show.
    batch = jax.tree.map(lambda leaf: jnp.repeat(leaf, 3, axis=0), batch_of(16))
    action = jnp.tile(jnp.arange(3), 16)
    reward, terminated = (action == 0).astype(jnp.float32), jnp.ones(48, bool)
    batch = batch._replace(action=action, reward=reward, terminated=terminated)
    state = learner.init(jax.random.key(0), Spec("pictures", SIDE**2, 3))

    @jax.jit
    def learn(state):
        return jax.lax.scan(lambda state, _: (learner.update(state, batch)[0], None), state, length=100)[0]

    @jax.jit
    def pi_0(theta):
        return jnp.exp(learner.policy.log_probabilities(theta, batch.observation))[:, 0]

    before, state = pi_0(state.theta), learn(state)
    after = pi_0(state.theta)
    learned = state.theta, state.value.psi, state.direction
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(learned))
    assert after.min() > before.max()
