"""Statistics over runs that are repeated with other seeds: means and their confidence intervals."""
