"""Drives that people own, measured, beside what presets of them simulate: `flashmesh validate`."""
