"""Inputs of sweeps and searches: their files, plans, ranges and points."""
