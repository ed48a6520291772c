"""Statistics over runs with different seeds: means and their confidence intervals."""
