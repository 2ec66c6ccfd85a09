"""Value critics: what is V under π?"""

from offnac.critics.td import TD
from offnac.critics.td_lambda import TDLambda

__all__ = ["TD", "TDLambda"]
