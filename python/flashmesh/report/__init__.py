"""Reports of results as text on a terminal or in a file."""
