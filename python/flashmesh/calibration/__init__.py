"""Fits the keys of a drive that no data sheet gives to measurements of it: `flashmesh calibrate`."""

BUDGET_MIN = 12.0
"""How long a calibration takes, in minutes, unless it is told otherwise."""
REQUESTS = 40_000
"""Requests of each load."""
SEED = 1
