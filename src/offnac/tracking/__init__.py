"""Runs as they go, in TensorBoard or Weights & Biases; both packages are extras."""

from offnac.tracking.follow import following
from offnac.tracking.trackers import TRACKERS, require

__all__ = ["TRACKERS", "following", "require"]
