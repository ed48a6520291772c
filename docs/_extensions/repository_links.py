"""Redirects links to CONTRIBUTING.md, which is outside docs/, to the page of the site that includes this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def lead(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replaces links to CONTRIBUTING.md in the source of a page, before Sphinx parses the page."""
    up = "../" * docname.count("/")
    source[0] = source[0].replace(f"]({up}../CONTRIBUTING.md", f"]({up}contributing.md")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers `lead` for the source of each page."""
    app.connect("source-read", lead)
    return {"parallel_read_safe": True}
