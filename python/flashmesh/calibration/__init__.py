"""Calibration: fits keys of a drive that no data sheet gives to measurements (`flashmesh calibrate`)."""

BUDGET_MIN = 12.0
"""Default time limit of a calibration, in minutes."""
REQUESTS = 40_000
"""Default number of requests of each load."""
SEED = 1
