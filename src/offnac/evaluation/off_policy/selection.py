"""The value of one policy after another on the same log, fast enough to choose among them."""

import jax
import numpy as np

from offnac.evaluation.off_policy.criterion import Criterion
from offnac.evaluation.off_policy.estimate import Estimate
from offnac.evaluation.off_policy.evidence import gather
from offnac.evaluation.off_policy.fitted import network, tabular
from offnac.evaluation.off_policy.fitted.ensemble import assemble
from offnac.evaluation.off_policy.fitted.table import tabulate
from offnac.logs import Log
from offnac.saved_policy import Policy

MEMBERS = 4
STEPS = 1000
"""Of the regression for every policy but the first, which takes all of them."""


class Selector:
    """Fitted Q evaluation. A network's fit goes on from the last policy's, and its compiled program is the
    same for all policies: they need not be alike, but a path of policies is followed best in its order."""

    def __init__(self, log: Log, criterion: Criterion, seed: int = 0) -> None:
        self.log, self.criterion = log, criterion
        self.table = tabulate(log)
        self.key = jax.random.key(seed)
        if self.table is None:
            self.ensemble = assemble(log, criterion, MEMBERS, np.random.default_rng(seed))
            self.psi = self.ensemble.begin(self.key)
        self.asked = 0

    def __call__(self, policy: Policy) -> Estimate:
        evidence = gather(policy, self.log)
        if self.table is not None:
            return tabular.fit(evidence, self.table, self.criterion).estimate
        steps = STEPS if self.asked else network.STEPS
        self.asked += 1
        key = jax.random.fold_in(self.key, self.asked)
        self.psi = self.ensemble.fit(evidence, self.psi, key, steps)
        return network.promised(self.ensemble, self.psi, evidence, self.criterion)[0]
