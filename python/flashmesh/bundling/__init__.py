"""Artefacts: results in one file with what repeats them."""
