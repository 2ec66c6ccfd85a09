"""Value critics: what is V under π?"""

from offnac.critics.cautious import Cautious
from offnac.critics.minibatches import Minibatches
from offnac.critics.td import TD
from offnac.critics.td_lambda import TDLambda

__all__ = ["TD", "Cautious", "Minibatches", "TDLambda"]
