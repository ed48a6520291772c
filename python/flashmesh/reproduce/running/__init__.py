"""Runs of a reproduction: their execution, the values measured in them, and searches for a regime."""
