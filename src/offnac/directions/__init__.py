"""Directions: which way does θ go?"""

from offnac.directions.iterative import Iterative
from offnac.directions.ridge import Ridge
from offnac.directions.vanilla import Vanilla

__all__ = ["Iterative", "Ridge", "Vanilla"]
