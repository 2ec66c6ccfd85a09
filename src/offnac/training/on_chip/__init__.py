"""On-line training in one GPU kernel, for the experiments of the paper on its JAX-native tasks.

XLA writes every network and its optimiser's state to memory at each step and reads them again. Here a seed's
whole run lives in the registers of one multiprocessor, for as many episodes as are asked for.
:func:`chunk` takes and gives what :func:`offnac.training.batched.chunk` does; it draws other random numbers.
"""

from offnac.training.on_chip.fits import fits, has_compiler
from offnac.training.on_chip.program import chunk

__all__ = ["chunk", "fits", "has_compiler"]
