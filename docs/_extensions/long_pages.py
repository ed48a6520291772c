"""Gives long pages their contents at the top, and folds the sections of pages that hold one table after another."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

LONG = 3_000
"""Words from which on a page is long."""
FOLDED = "reproduction/"
"""Folder of the pages whose sections are folded: claim after claim, of which a reader wants one."""
SHORT = 150
"""Words of a section that is not worth folding."""


def words(node: nodes.Node) -> int:
    """Returns how many words a part of a page has."""
    return len(node.astext().split())


def arrange(app: Sphinx, document: nodes.document, name: str) -> None:
    """Changes a page before it is written, if it is long."""
    if app.builder.format != "html" or words(document) < LONG:
        return
    tops = list(document.findall(nodes.section))[:1]
    if not tops:
        return
    sections = [child for child in tops[0].children if isinstance(child, nodes.section)]
    if name.startswith(FOLDED):
        for section in sections:
            inner = [child for child in section.children if isinstance(child, nodes.section)]
            for leaf in inner or [section]:
                if words(leaf) > SHORT:
                    fold(leaf)
    tops[0].insert(1, nodes.raw("", contents(sections), format="html"))


def contents(sections: list[nodes.section]) -> str:
    """Returns links to the sections of a page."""
    lines = ['<nav class="on-this-page" aria-label="On this page"><ul>']
    for section in sections:
        inner = [child for child in section.children if isinstance(child, nodes.section)]
        nested = "".join(f"<li>{link(child)}</li>" for child in inner)
        lines.append(f"<li>{link(section)}{f'<ul>{nested}</ul>' if nested else ''}</li>")
    return "".join([*lines, "</ul></nav>"])


def link(section: nodes.section) -> str:
    """Returns a link to a section."""
    title = section.next_node(nodes.title)
    words_of_title = title.astext() if title is not None else section["ids"][0]
    return f'<a href="#{escape(section["ids"][0])}">{escape(words_of_title)}</a>'


def fold(section: nodes.section) -> None:
    """Puts all of a section but its heading into a fold, which opens for links to places in it."""
    rows = sum(1 for _ in section.findall(nodes.row))
    pictures = sum(1 for _ in section.findall(nodes.image))
    held = [f"{rows} rows"] if rows else []
    held += ["a chart" if pictures == 1 else f"{pictures} charts"] if pictures else []
    shown = " and ".join(held) or f"{words(section)} words"
    opening = f'<details class="fold"><summary>{shown}</summary>'
    section.insert(1, nodes.raw("", opening, format="html"))
    section.append(nodes.raw("", "</details>", format="html"))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers the change of pages, behind that of their references."""
    app.connect("doctree-resolved", arrange, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
