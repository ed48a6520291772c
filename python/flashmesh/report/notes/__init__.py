"""Notes below a summary or a table, on what makes its figures uncertain, incomplete or surprising."""
