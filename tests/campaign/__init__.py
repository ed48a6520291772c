"""Random drives under random workloads, held to arithmetic that shares nothing with the simulator: `make campaign`."""
