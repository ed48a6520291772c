"""Commands that simulate one drive or a few."""
