"""Draws Mermaid diagrams while the site is built, so that a page needs no script for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import mmdr
from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


class Mermaid(Directive):
    """A diagram in the language of Mermaid, as an SVG within the page."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """Returns the drawing of the content of the directive, in a container of class `diagram`."""
        source = "\n".join(self.content)
        drawing = nodes.raw("", mmdr.render(source).svg(), format="html")
        return [nodes.container("", drawing, classes=["diagram"])]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the directive `mermaid`; Sphinx calls it when it loads the extension."""
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
