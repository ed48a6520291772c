"""Measures flashmesh: CPU time, instructions, memory, and whether results are the same. `make bench` runs it."""
