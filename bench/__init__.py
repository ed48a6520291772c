"""Measurements of flashmesh, run by `make bench`: CPU time, instructions, memory, and equality of results."""
