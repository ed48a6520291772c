"""Parts of a comparison: its axes, and ratios to a baseline."""
