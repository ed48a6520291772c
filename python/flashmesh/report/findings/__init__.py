"""Findings of a comparison: the gains of values, the winners, and the answer over all axes."""
