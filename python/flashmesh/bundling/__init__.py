"""Bundles of results with everything needed to repeat them."""
