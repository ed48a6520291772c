"""Mutation testing of the core: how many small faults in the code do the tests find?

All drawn mutants are compiled into one copy of the tree, each behind a test of the environment variable `VARIABLE`.
A compiler run for each mutant would take longer than its tests.
"""

VARIABLE = "FLASHMESH_MUTANTS"
"""Environment variable with the numbers of the active mutants, separated by commas."""
