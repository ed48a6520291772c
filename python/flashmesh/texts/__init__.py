"""Texts of values for files, terminals and spreadsheets."""
