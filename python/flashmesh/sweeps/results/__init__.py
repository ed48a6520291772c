"""Results of a sweep: their store, and the tables of all stored results."""
