"""Importers: configurations and results of other simulators and tools, translated for flashmesh."""
