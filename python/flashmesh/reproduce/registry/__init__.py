"""The registry of papers: its reader, and the data model of what its files declare."""
