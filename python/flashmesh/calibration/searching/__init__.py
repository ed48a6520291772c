"""The search of a calibration: initial values, simulated candidates, stages, and what the measurements determine."""
