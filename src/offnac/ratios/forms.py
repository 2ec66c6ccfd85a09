"""The three losses (errata, "Density ratios"), each as the signed measure that the exact ratio makes vanish.

w is divided by its batch mean z in each. The stationary loss leaves the scale open
(row 13). The other two fix it, but by a term of size 1 − γ only: a V-statistic's
own pairs then pull w to 0. On the restart chain the exact ratio's mean is 1, so
that dividing moves no root.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from offnac.ratios.data import RatioData, average, normalised
from offnac.ratios.links import Links
from offnac.ratios.measures import Sample

Ratio = Callable[[Float[Array, "n d"]], Float[Array, " n"]]


def divided(w: Ratio, data: RatioData, mass: Float[Array, " n"]) -> Ratio:
    """w/z, where z is the mean of w over the data."""
    z = jnp.where(mass.sum() > 0, average(w(data.batch.observation), mass), 1.0)
    return lambda observations: w(observations) / z


def along_links(
    w: Ratio, data: RatioData, mass: Float[Array, " n"], links: Links, total: Float[Array, ""] | float
) -> Sample:
    """Δ = w(s)ρ − w(s′) at s′: errata rows 1 and 2."""
    Delta = w(data.batch.observation) * data.rho - w(links.next_observation)
    return Sample(total * normalised(mass * links.followed), Delta[:, None], links.next_observation[:, None])


def at_starts(data: RatioData, coefficient: Float[Array, " m"], total: Float[Array, ""] | float) -> Sample:
    m = data.initial.shape[0]
    return Sample(jnp.full(m, total / m), coefficient[:, None], data.initial[:, None])


def stationary(w: Ratio, data: RatioData, links: Links) -> tuple[Sample]:
    """L₁(w, f) = E[Δ f(s′)]; root w ∝ d_π/d_μ, where s ~ d_μ."""
    return (along_links(divided(w, data, data.weight), data, data.weight, links, 1.0),)


def discounted(
    w: Ratio,
    data: RatioData,
    mass: Float[Array, " n"],
    links: Links,
    starts: Float[Array, ""] | float,
) -> tuple[Sample, Sample]:
    """L₂(w, f) = (1−σ)E[Δ f(s′)] + σE_{d₀}[(1 − w(s₀)) f(s₀)]; root w = d̃_π/d̃_μ, where s ~ d̃_μ.

    ``mass`` makes d̃_μ of the rows; σ = ``starts`` is the share of the initial
    states, which are dummy transitions: 1 − γ.
    """
    w = divided(w, data, mass)
    return along_links(w, data, mass, links, 1.0 - starts), at_starts(data, 1.0 - w(data.initial), starts)


def direct(w: Ratio, data: RatioData, links: Links, gamma: float) -> tuple[Sample, Sample]:
    """L(w, f) = (1−γ)E_{d₀}[f(s₀)] + E_D[w(s)(γρ f(s′) − f(s))]; root w = d̃_π/D for any D.

    A row that somebody stopped looking at is as good as any here: its s′ is a draw of P.
    """
    s = data.batch.observation
    u = divided(w, data, data.weight)(s)
    rows = Sample(
        normalised(data.weight),
        jnp.stack([gamma * data.rho * u, -u], axis=1),
        jnp.stack([links.next_observation, s], axis=1),
    )
    return rows, at_starts(data, jnp.ones_like(data.initial[:, 0]), 1.0 - gamma)
