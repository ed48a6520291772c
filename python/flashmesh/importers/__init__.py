"""Importers of configurations of other simulators and tools, and writers of results in their formats."""
