"""Charts that compare drives: over the load, to a baseline, over axes, and by objectives."""
