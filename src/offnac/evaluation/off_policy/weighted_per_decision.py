"""Weighted per-decision importance sampling: the mean reward of each step, weighted by Π ρ up to it over the
sum of these weights; an episode that is over keeps its weight and earns 0."""

import numpy as np

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate, from_influence
from offnac.evaluation.off_policy.evidence import Evidence
from offnac.evaluation.off_policy.fitted.fit import Fitted
from offnac.evaluation.off_policy.per_decision import earned


def estimate(evidence: Evidence, fitted: Fitted, criterion: Criterion) -> Estimate:
    log, weight, reward = evidence.log, evidence.weight, earned(evidence, fitted, criterion)
    step = np.arange(len(log)) - log.starts[log.episode]
    end, kept = step[evidence.last], weight[evidence.last]
    over = np.append(0.0, np.bincount(end, weights=kept).cumsum()[:-1])
    total = np.bincount(step, weights=weight) + over
    mean = np.bincount(step, weights=weight * reward) / total
    # What an episode moves: the means of the steps it has, and those after it, where it earns 0.
    own = evidence.per_episode(weight / total[step] * (reward - mean[step]))
    later = np.append(np.cumsum((mean / total)[::-1])[::-1], 0.0)
    return from_influence(mean.sum(), log.episodes * (own - kept * later[end + 1]))
