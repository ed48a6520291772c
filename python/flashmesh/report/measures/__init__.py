"""Measures that tables and charts show: their names, meanings and values."""
