"""How much more would π visit s than the data does? One estimator per file; :class:`Ratios` holds a pair."""

from offnac.ratios.data import RatioData
from offnac.ratios.features import Fourier, Identity
from offnac.ratios.info import RatioInfo, describe, effective_sample_size
from offnac.ratios.kernel import Kernel, published
from offnac.ratios.least_squares import LeastSquares
from offnac.ratios.none import One
from offnac.ratios.pair import Estimator, Ratios
from offnac.ratios.rbf import Fixed, Median

__all__ = [
    "Estimator",
    "Fixed",
    "Fourier",
    "Identity",
    "Kernel",
    "LeastSquares",
    "Median",
    "One",
    "RatioData",
    "RatioInfo",
    "Ratios",
    "describe",
    "effective_sample_size",
    "published",
]
