"""Random drives under random workloads, checked with arithmetic independent of the simulator: `make campaign`."""
