"""Charts of simulated beside published and measured values."""
