"""Where a task ends, if little says it: log odds that are a sparse quadratic function of where a step leads.

Most tasks end where something is reached or left: a position, an angle, a height. Where behaviour was random
few episodes may have ended (of Acrobot's 500 about eight): enough to see that there is an edge, too few for a
network to tell where the rest of it runs. It takes these places for all there are, and lets π pass between
them. A function of few terms goes on where nobody has been. It is found by logistic regression with an
absolute penalty (Tibshirani 1996), and believed where it explains nearly all of the ends.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from scipy.optimize import minimize

from offnac.transition import Transition

PENALTY = 1.0
"""Of a term's weight, in units of what one row's surprise may be; terms have SD 1."""
EXPLAINED = 0.9
"""The part of the deviance that a rule must explain to be believed."""
CELLS = 1 << 23
"""Rows times terms that it is found in; of more rows that go on every second, third, …"""
WIDE = 32
"""Numbers of a state up to which products of two different ones are terms, too."""
STEPS = 400
"""Of the search for the weights."""


class Rule(NamedTuple):
    square: Float[Array, "d d"]
    line: Float[Array, " d"]
    level: Float[Array, ""]
    explained: Float[Array, ""]
    """The part of the deviance that it explains."""

    @property
    def believed(self) -> Any:
        return self.explained > EXPLAINED

    def odds(self, following: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log odds that the task ends with a step that leads there."""
        bent = jnp.einsum("ni,ij,nj->n", following, self.square, following)
        return bent + following @ self.line + self.level


def no_rule(size: int) -> Rule:
    return Rule(jnp.zeros((size, size)), jnp.zeros(size), jnp.zeros(()), jnp.zeros(()))


def rule_of(rows: Transition) -> Rule:
    """The rule of recorded rows; none where no end or nothing but ends was recorded, or not where ends
    led (s′ is then told as s)."""
    following, ended = np.asarray(rows.next_observation), np.asarray(rows.terminated)
    size, ends = following.shape[1], int(ended.sum())
    if not 0 < ends < len(ended):
        return no_rule(size)
    if np.mean((rows.next_observation == rows.observation).all(axis=1)[ended]) > 0.5:
        return no_rule(size)
    pairs = _pairs(size)
    every = -(-(size + len(pairs[0])) * len(ended) // CELLS)
    some = np.union1d(np.flatnonzero(ended)[::every], np.flatnonzero(~ended)[::every])
    terms, sign = _terms(following[some], pairs), np.where(ended[some], 1.0, -1.0)
    mean, sd = terms.mean(axis=0), terms.std(axis=0)
    sd = np.where(sd > 1e-6, sd, np.inf)  # what never varies says nothing
    weight, level, explained = _found((terms - mean) / sd, sign)
    weight = weight / sd
    square = np.zeros((size, size))
    square[pairs] = weight[size:]
    level -= float(weight @ mean)
    return Rule(*(jnp.asarray(part, jnp.float32) for part in (square, weight[:size], level, explained)))


def _pairs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Of the numbers whose products are terms."""
    if size > WIDE:
        return np.arange(size), np.arange(size)
    return np.triu_indices(size)


def _terms(observation: NDArray[Any], pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> NDArray[Any]:
    products = observation[:, pairs[0]] * observation[:, pairs[1]]
    return np.concatenate([observation, products], axis=1, dtype=np.float64)


def _found(terms: NDArray[Any], sign: NDArray[Any]) -> tuple[NDArray[Any], float, float]:
    """Weights, level, and the part of the deviance that they explain. A weight is the difference of two that
    are not negative, so that its absolute value is a smooth function of them."""
    count = terms.shape[1]

    def loss(both: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        plus, minus, level = both[:count], both[count:-1], both[-1]
        odds = sign * (terms @ (plus - minus) + level)
        pull = -sign * np.exp(-np.logaddexp(0.0, odds))
        down = terms.T @ pull
        surprise = np.logaddexp(0.0, -odds).sum() + PENALTY * (plus + minus).sum()
        return surprise, np.concatenate([down + PENALTY, PENALTY - down, [pull.sum()]])

    bounds = [(0.0, None)] * (2 * count) + [(None, None)]
    usual = (sign > 0).mean()
    first = np.zeros(2 * count + 1)
    first[-1] = np.log(usual / (1.0 - usual))
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}).x
    weight, level = found[:count] - found[count:-1], float(found[-1])
    left = np.logaddexp(0.0, -sign * (terms @ weight + level)).sum()
    return weight, level, 1.0 - left / loss(first)[0]
