"""Judgement of simulated figures: tolerances, the baseline curve, and the outcome of a validation."""
