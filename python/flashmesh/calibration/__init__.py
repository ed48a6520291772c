"""Calibration of a drive: fits the keys that no data sheet states to measurements (`flashmesh calibrate`)."""

BUDGET_MIN = 12.0
"""Default time limit of a calibration, in minutes."""
SEED = 1
