"""Sections of the summary of a run: its head, the parts of the drive, and the run over time."""
