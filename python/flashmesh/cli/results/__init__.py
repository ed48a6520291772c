"""Commands on saved results: text, pages, bundles."""
