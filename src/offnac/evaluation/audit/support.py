"""Would the policy stay where the log knows what happens? Artificial episodes of the policy tell.

From a logged initial state the policy acts; what happens next is what happened in one of the K nearest
logged rows with the same action (Fonteneau, Murphy, Wehenkel, Ernst: Batch mode reinforcement learning based
on the synthesis of artificial trajectories, 2013), and what sets the state apart from that row becomes what
the rows around make of such differences. A step counts as barely held where the K-th of these rows is
farther than such rows are from each other in the log itself. Weights alone do not notice a policy that
leaves: there is no row to give a weight to where it goes.
"""

from math import ceil, log
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from offnac.evaluation.audit.policy import Probabilities
from offnac.logs import Log

K = 5
"""Rows that must be near for a place to be known."""
AROUND = 32
"""Rows that tell what becomes of a small difference."""
RIDGE = 1e-3
"""Of that, as a share of their variance: along what they do not vary in, a difference is off the log's
states altogether (a cosine above 1), and is forgotten."""
JITTER, NOTHING = 1e-3, 1e-2
"""SDs. The former is put between rows of the very same state, so that each may be drawn; differences below
the latter count for none."""
FARTHEST = 50.0
"""SDs from the mean, where an artificial episode stays that runs away."""
TYPICAL = 0.95
"""The share of the log's own rows that are held, as it were, by definition."""
LOCAL = 0.1
"""Rows within this share of the median distance are near however dense the log is: a tenth of the length over
which the features of the ratios vary."""
EPISODES = 128
HORIZON = 500
WEIGHT_LEFT = 0.05
"""Steps are followed until this share of the discounted weight is left."""
OWN = 2000
"""Rows whose own distances are looked at."""

Vectors = NDArray[np.floating[Any]]


class Rows:
    """The logged rows, found by their state and action, in units of the log's SD."""

    def __init__(self, log: Log, rng: np.random.Generator) -> None:
        some = np.sort(rng.choice(len(log), min(_room(log), len(log)), replace=False))
        self.mean, self.scale = log.scaling()
        observation, following = (
            np.asarray(part)[some] for part in (log.rows.observation, log.rows.next_observation)
        )
        self.following = self.standard(following) + rng.normal(0.0, JITTER, following.shape)
        self.terminated, self.action = (
            np.asarray(log.rows.terminated)[some],
            np.asarray(log.rows.action)[some],
        )
        self.episode = log.episode[some]
        self.state = self.standard(observation) + rng.normal(0.0, JITTER, observation.shape)
        self.actions = log.spec.actions
        self._rows = [np.flatnonzero(self.action == a) for a in range(self.actions)]
        self._trees = [scipy.spatial.KDTree(self.state[rows]) if len(rows) else None for rows in self._rows]
        self._all, self._ends = scipy.spatial.KDTree(self.state), scipy.spatial.KDTree(self.following)
        self.median = self._median_distance(rng)
        own = rng.choice(len(some), min(OWN, len(some)), replace=False)
        near = LOCAL * self.median
        self.radius = max(near, float(np.quantile(self._own(own, same_action=True), TYPICAL)))
        self.state_radius = max(near, float(np.quantile(self._own(own, same_action=False), TYPICAL)))

    def standard(self, observation: Vectors) -> Vectors:
        return (observation - self.mean) / self.scale

    def raw(self, state: Vectors) -> Vectors:
        return (state * self.scale + self.mean).astype(np.float32)

    def nearest(self, state: Vectors, action: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """For each (s, a) the distance of the K-th nearest row with this action, and the nearest AROUND rows;
        −1: none."""
        distance = np.full(len(state), np.inf)
        rows = np.full((len(state), AROUND), -1)
        for a, (tree, own) in enumerate(zip(self._trees, self._rows, strict=True)):
            asked = np.flatnonzero(action == a)
            if tree is None or not len(asked):
                continue
            count = min(AROUND, len(own))
            found, index = tree.query(state[asked], k=[*range(1, count + 1)])
            # Fewer rows than K in all: the few there are tell what happens, but hold nothing.
            distance[asked] = found[:, K - 1] if count >= K else np.inf
            rows[asked] = own[np.resize(index.T, (AROUND, len(asked))).T]
        return distance, rows

    def move(self, state: Vectors, rows: NDArray[np.int64], chosen: NDArray[np.int64]) -> Vectors:
        """The states that follow as they did from the chosen ones of these rows, without those that end (seen
        by where they lead: to states that rows ended in). Where there is no row, −1, nothing moves."""
        x, y, here = self.state[rows], self.following[rows], np.arange(len(state))
        apart = state - x[here, chosen]
        moved = y[here, chosen] + np.einsum("ni,nij->nj", apart, _jacobian(x, y))
        known = rows[:, 0] >= 0
        moved = np.clip(np.where(known[:, None], moved, state), -FARTHEST, FARTHEST)
        _, nearest = self._ends.query(moved)
        return moved[~(self.terminated[nearest] & known)]

    def holds(self, state: Vectors) -> NDArray[np.bool_]:
        """Whether K rows are near, whatever their action; a bound makes this fast far from all of them."""
        bound = np.nextafter(self.state_radius, np.inf)
        found, _ = self._all.query(state, k=[min(K, len(self.state))], distance_upper_bound=bound)
        return np.isfinite(found[:, 0])

    def _own(self, chosen: NDArray[np.int64], *, same_action: bool) -> NDArray[np.float64]:
        """How far logged rows are from the K-th nearest row of another episode."""
        distance = np.zeros(len(chosen))
        groups: list[Any] = [(self._all, np.arange(len(self.state)), np.ones(len(chosen), bool))]
        if same_action:
            groups = [
                (tree, rows, self.action[chosen] == a)
                for a, (tree, rows) in enumerate(zip(self._trees, self._rows, strict=True))
            ]
        for tree, rows, mine in groups:
            if not mine.any():
                continue
            count = min(len(rows), 16 * K)
            found, index = tree.query(self.state[chosen[mine]], k=[*range(1, count + 1)])
            foreign = self.episode[rows[index]] != self.episode[chosen[mine]][:, None]
            enough = foreign.cumsum(axis=1) >= K
            last = np.where(enough.any(axis=1), enough.argmax(axis=1), count - 1)
            distance[mine] = found[np.arange(len(found)), last]
        return distance

    def _median_distance(self, rng: np.random.Generator) -> float:
        one, other = self.state[rng.integers(0, len(self.state), (2, OWN))]
        distance = np.linalg.norm(one - other, axis=1)
        apart = distance[distance > 0.05]
        return float(np.median(apart)) if len(apart) else 1.0


def follow(data: Log, policy: Probabilities, gamma: float, seed: int) -> dict[str, Any]:
    """The shares of the policy's discounted weight that the log barely holds, by state, action and time."""
    rng = np.random.default_rng(seed)
    rows, longest = Rows(data, rng), _longest(data)
    state = rows.standard(np.asarray(data.rows.observation)[rng.choice(data.initial, EPISODES)])
    weight = far_weight = state_weight = late_weight = 0.0
    centre = np.zeros(state.shape[1])
    there, barely = [], []
    for step in range(min(HORIZON, ceil(log(WEIGHT_LEFT) / log(gamma)))):
        if not len(state):
            break
        # Every batch has the same size, for which the policy's program is compiled once.
        pi = policy(np.resize(rows.raw(state), (EPISODES, state.shape[1])))[: len(state)]
        distance, near = rows.nearest(state, _draw(pi, rng))
        far = distance > rows.radius
        discount = gamma**step
        weight += discount * len(state)
        far_weight += discount * far.sum()
        if far.any():
            state_weight += discount * (~rows.holds(state[far])).sum()
            centre += discount * state[far].sum(axis=0)
        late_weight += discount * len(state) * (step >= longest)
        there.append(len(state) / EPISODES)
        barely.append(far.mean())
        state = rows.move(state, near, rng.integers(0, K, len(state)))
    return {
        "barely_held": far_weight / weight,
        "states": state_weight / weight,
        "actions": (far_weight - state_weight) / weight,
        "late": late_weight / weight,
        "horizon": 1.0 / (1.0 - gamma),
        "longest": longest if np.isfinite(longest) else None,
        "radius": rows.radius / rows.median,
        "centre": (centre / far_weight).tolist() if far_weight else None,
        "path": {"there": _round(there), "barely_held": _round(barely)},
    }


def _jacobian(x: Vectors, y: Vectors) -> NDArray[np.float64]:
    """ds′/ds by ridge regression over each state's rows [n, d, d]."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    xx, xy = np.einsum("nki,nkj->nij", x, x), np.einsum("nki,nkj->nij", x, y)
    size = x.shape[2]
    ridge = RIDGE * np.trace(xx, axis1=1, axis2=2) / size + len(x[0]) * NOTHING**2
    return np.asarray(np.linalg.solve(xx + ridge[:, None, None] * np.eye(size), xy))


def _longest(data: Log) -> float:
    """The length that few episodes reach; without bound where these were cut short instead of ending."""
    lengths = np.bincount(data.episode)
    ended = data.rows.terminated[np.append(data.starts[1:], len(data)) - 1]
    few = np.argsort(-lengths, kind="stable")[: min(K, 1 + len(lengths) // 20)]
    return float(lengths[few[-1]]) if ended[few].mean() > 0.5 else np.inf


def _draw(pi: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    drawn = (pi.cumsum(axis=1) < rng.random((len(pi), 1))).sum(axis=1)
    return np.minimum(drawn, pi.shape[1] - 1)


def _room(data: Log) -> int:
    """Rows to look among: trees answer fast in few dimensions only."""
    size = data.spec.observation_size
    return 1 << (20 if size <= 3 else 18 if size <= 6 else 16 if size <= 10 else 14)


def _round(values: list[Any]) -> list[float]:
    return [round(float(value), 4) for value in values]
