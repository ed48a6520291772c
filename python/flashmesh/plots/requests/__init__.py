"""Charts of the requests of a run: their latencies, by stream and over time."""
