"""Loads of measurements, data sheets, sweeps and writes to hot pages, with their configurations."""
