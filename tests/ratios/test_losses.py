"""Property 7: the three losses vanish at the exact ratio, and the printed one does not."""

import jax
import jax.numpy as jnp
import pytest

from offnac.ratios import Fixed, Kernel
from offnac.ratios.forms import direct, discounted, stationary
from offnac.ratios.links import restart
from offnac.ratios.measures import Sample, squared_norm


def D(measure, data):
    return float(squared_norm(measure, Fixed(1.0).kernel(data), unbiased=False))


def table(w):
    """w(s) of one-hot states."""
    return lambda observations: observations @ w


def losses(finite, anywhere):
    """(name, data, loss as a function of a table w, exact ratio)."""
    d_pi, d_mu, d = finite.discounted(finite.pi), finite.discounted(finite.mu), finite.stationary(finite.mu)
    gamma, key = finite.gamma, jax.random.key(0)

    def case(distribution, measure, root):
        data = finite.data(distribution)
        links = restart(data, key)
        return lambda w: D(measure(table(w), data, links), data), root

    return {
        "stationary": case(d, stationary, finite.stationary(finite.pi) / d),
        "discounted": case(
            d_mu, lambda w, data, links: discounted(w, data, data.weight, links, 1 - gamma), d_pi / d_mu
        ),
        "direct": case(anywhere, lambda w, data, links: direct(w, data, links, gamma), d_pi / anywhere),
    }


@pytest.mark.parametrize("form", ["stationary", "discounted", "direct"])
def test_vanish_at_the_exact_ratio_and_nowhere_else(finite, anywhere, form):
    loss, root = losses(finite, anywhere)[form]
    assert abs(loss(root)) < 1e-15
    assert loss(jnp.ones_like(root)) > 1e-4


@pytest.mark.parametrize("form", ["stationary", "discounted", "direct"])
def test_scale_is_free(finite, anywhere, form):
    loss, root = losses(finite, anywhere)[form]
    assert all(abs(loss(c * root)) < 1e-15 for c in (0.1, 3.0))


def test_the_printed_Delta_leaves_a_residual(finite):
    """Δ = w(s)ρ − w(s), errata row 1."""
    d = finite.stationary(finite.mu)
    data, w = finite.data(d), table(finite.stationary(finite.pi) / d)
    printed = w(data.batch.observation) * (data.rho - 1)
    points = data.batch.next_observation[:, None]
    assert D([Sample(data.weight, printed[:, None], points)], data) > 1e-3


def test_an_episode_weighted_by_step_is_the_discounted_visitation(continuing):
    """γ^(t+1) and a mass of 1 for each start: errata row 12, where no episode ends."""
    gamma = 0.6
    finite = continuing._replace(gamma=gamma)
    p, rows, chain = finite.mdp.d0, [], jnp.einsum("sa,sat->st", finite.mu, finite.mdp.P)
    for t in range(25):
        data = finite.data(p)
        rows.append(data._replace(batch=data.batch._replace(step=jnp.full_like(data.batch.step, t))))
        p = p @ chain
    episode = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *rows)._replace(initial=data.initial)
    w = table(finite.discounted(finite.pi) / finite.discounted(finite.mu))
    for links in ("raw", "restart"):
        kernel = Kernel("discounted", links=links)
        mass = kernel.mass(episode, gamma, jax.random.key(0))
        share = kernel.starts(episode, mass, gamma)
        assert share == pytest.approx(1 - gamma, abs=1e-5)
        measure = discounted(w, episode, mass, restart(episode, jax.random.key(0)), share)
        assert D(measure, episode) < 1e-9
