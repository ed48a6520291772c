"""Calibration of a drive: fits the keys that no data sheet states to measurements (`flashmesh calibrate`)."""

BUDGET_MIN = 12.0
"""Default time limit of a calibration, in minutes."""
REQUESTS = 40_000
"""Default number of requests of each load."""
SEED = 1
