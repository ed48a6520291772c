"""Parts of a run beside its simulation: repetition until it is steady, streams alone, written tables."""
