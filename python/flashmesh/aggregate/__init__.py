"""Runs that were repeated with other seeds, taken together: what they measure on average, and how sure that is."""
