"""Logs: tables of somebody's decisions."""

from offnac.logs.columns import Columns
from offnac.logs.features import require_learnable
from offnac.logs.log import FITTED, LOGGED, Log
from offnac.logs.read import read_log
from offnac.logs.write import write_log

__all__ = ["FITTED", "LOGGED", "Columns", "Log", "read_log", "require_learnable", "write_log"]
