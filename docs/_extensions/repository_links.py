"""Leads links to CONTRIBUTING.md, which stands beside the folder of the pages, to the page that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def lead(app: Sphinx, docname: str, source: list[str]) -> None:
    """Changes the links of one page before it is read."""
    up = "../" * docname.count("/")
    source[0] = source[0].replace(f"]({up}../CONTRIBUTING.md", f"]({up}contributing.md")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the change of links."""
    app.connect("source-read", lead)
    return {"parallel_read_safe": True}
