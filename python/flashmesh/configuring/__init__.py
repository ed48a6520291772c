"""Parts of reading a configuration: sources, spellings, derived values, errors."""
