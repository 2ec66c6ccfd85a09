"""The paper's tables, run again across seeds."""
