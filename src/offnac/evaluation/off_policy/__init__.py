"""How good is a policy, by somebody else's decisions alone? One estimator per file."""

from offnac.evaluation.off_policy.ope import LONGEST, STAGES, ope

__all__ = ["LONGEST", "STAGES", "ope"]
