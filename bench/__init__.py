"""Measurements of flashmesh: CPU time, instructions, memory, and equality of results. `make bench` runs it."""
