"""The ratio as a network, one gradient step of D(w) at a time (Liu et al. 2018; the supplementary)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from offnac.errors import UserError
from offnac.networks import MLP, Parameters, evaluate, initialise
from offnac.optimisers import Adam, Optimiser
from offnac.ratios.data import RatioData, average, choose, present
from offnac.ratios.forms import Ratio, direct, discounted, stationary
from offnac.ratios.info import RatioInfo, describe
from offnac.ratios.links import LINKS
from offnac.ratios.measures import Sample, squared_norm
from offnac.ratios.rbf import Fixed, Median
from offnac.schedules import Clock, Constant
from offnac.settings import settings, static
from offnac.transition import Spec

CHOICES = {
    "form": ("stationary", "discounted", "direct"),
    "links": tuple(LINKS),
    "keep": ("weight", "sample"),
}


class KernelState(NamedTuple):
    parameters: Parameters
    optimiser: Any
    mean: Float[Array, ""]
    """E_D[w] of the network's output, averaged over updates, by which it is divided."""
    updates: Float[Array, ""]


@settings
class Kernel:
    form: str = static(default="direct")
    """``stationary`` for ŵ (data ~ d_μ), ``discounted`` for w (episodes of μ), ``direct`` for w (any)."""
    hidden: tuple[int, ...] = static(default=(16,))
    activation: str = static(default="relu")
    bias: bool = static(default=True)
    output: str = static(default="exp")
    """``exp`` or ``softplus``: a ratio is positive."""
    optimiser: Optimiser = Adam(Constant(1e-3))
    lengthscale: Fixed | Median = Median()
    unbiased: bool = static(default=True)
    """Leave out a row's pair with itself (U-statistic): right for fresh rows at every update; on the same few
    rows again and again it has no lower bound to settle at."""
    links: str = static(default="restart")
    """``restart``: errata row 14; ``raw``: s′ as it came."""
    keep: str = static(default="weight")
    """How the discounted form makes d̃_μ of episodes: ``weight`` step t by γ^(t+1), or ``sample`` it with that
    probability, as published (errata row 12)."""
    normalise: bool = static(default=True)
    """Divide by E_D[w]; without it the network's scale, which drifts, enters the updates (errata row 23)."""
    memory: float = 0.9
    """Of that mean, over updates: one batch's own is too noisy where its rows are few."""
    bound: float = 100.0
    """No w above this."""

    def __post_init__(self) -> None:
        for field, known in CHOICES.items():
            if getattr(self, field) not in known:
                came = getattr(self, field)
                raise UserError(f"a kernel ratio's {field} is one of {', '.join(known)}, but {came!r} came")

    def network(self, size: int) -> MLP:
        return MLP(size, self.hidden, 1, activation=self.activation, bias=self.bias, output=self.output)

    def init(self, key: PRNGKeyArray, spec: Spec) -> KernelState:
        parameters = initialise(self.network(spec.observation_size), key)
        return KernelState(
            parameters,
            self.optimiser.init(parameters),
            mean=jnp.ones((), parameters.dtype),
            updates=jnp.zeros((), parameters.dtype),
        )

    def update(
        self, state: KernelState, data: RatioData, gamma: float, key: PRNGKeyArray, clock: Clock
    ) -> tuple[KernelState, RatioInfo]:
        data = present(data)
        key_mass, key_links = jax.random.split(key)
        mass = self.mass(data, gamma, key_mass)
        links = LINKS[self.links](data, key_links)
        kernel = self.lengthscale.kernel(data)

        def measure(w: Ratio) -> tuple[Sample, ...]:
            if self.form == "stationary":
                return stationary(w, data, links)
            if self.form == "discounted":
                return discounted(w, data, mass, links, self.starts(data, mass, gamma))
            return direct(w, data, links, gamma)

        def D(parameters: Parameters) -> Float[Array, ""]:
            return squared_norm(measure(lambda s: self.w(parameters, s)), kernel, self.unbiased)

        loss, gradient = jax.value_and_grad(D)(state.parameters)
        optimiser, step = self.optimiser.update(state.optimiser, -gradient, clock)
        parameters = state.parameters + step
        mean = average(self.w(parameters, data.batch.observation), mass)
        if self.normalise:
            # A plain average at first, so that the arbitrary start is forgotten at once.
            rate = jnp.maximum(1.0 / (state.updates + 1.0), 1.0 - self.memory)
            kept = state.mean + rate * (mean - state.mean)
        else:
            kept = state.mean
        new = KernelState(parameters, optimiser, kept, state.updates + 1.0)
        new = choose(mass.sum() > 0, new, state)
        info = describe(self.ratio(new, data.batch.observation), data.rho, mass, loss)
        return new, info._replace(mean=mean)

    def w(self, parameters: Parameters, observations: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The network's output, before normalisation."""
        return evaluate(self.network(observations.shape[-1]), parameters, observations)[:, 0]

    def ratio(self, state: KernelState, observations: Float[Array, "n d"]) -> Float[Array, " n"]:
        return jnp.minimum(self.w(state.parameters, observations) / state.mean, self.bound)

    def mass(self, data: RatioData, gamma: float, key: PRNGKeyArray) -> Float[Array, " n"]:
        """The rows' weights under the distribution that the form takes expectations over."""
        if self.form != "discounted":
            return data.weight
        discount = jnp.asarray(gamma, data.weight.dtype) ** (data.batch.step + 1)
        if self.keep == "sample":
            discount = jax.random.bernoulli(key, discount).astype(discount.dtype)
        return data.weight * discount

    def starts(self, data: RatioData, mass: Float[Array, " n"], gamma: float) -> Float[Array, ""] | float:
        """The share of the dummy transitions: 1 − γ, or the published mass of 1 for each episode."""
        if self.links == "restart":
            return 1.0 - gamma
        episodes = (data.weight * (data.batch.step == 0)).sum()
        return episodes / jnp.maximum(episodes + mass.sum(), jnp.finfo(mass.dtype).tiny)


def published(form: str, optimiser: Optimiser) -> Kernel:
    """The published experiments' estimator: errata rows 2, 10, 12, 14 and 23."""
    return Kernel(
        form,
        optimiser=optimiser,
        lengthscale=Fixed(1.0),
        unbiased=False,
        links="raw",
        keep="sample",
        normalise=False,
        bound=jnp.inf,
    )
