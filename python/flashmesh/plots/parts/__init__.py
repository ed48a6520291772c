"""Charts of the parts of a drive: their use, energy and conflicts, and their shares of latency."""
