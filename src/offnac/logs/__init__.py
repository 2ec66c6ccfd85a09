"""Logs: tables of somebody's decisions."""
