"""Directions: which way does θ go?"""

from offnac.directions.imitation import Imitation
from offnac.directions.iterative import Iterative
from offnac.directions.ridge import Ridge
from offnac.directions.vanilla import Vanilla

__all__ = ["Imitation", "Iterative", "Ridge", "Vanilla"]
