"""Validation of presets against measurements of real drives: `flashmesh validate`."""
