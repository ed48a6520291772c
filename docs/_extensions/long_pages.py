"""Gives long pages their contents at the top, and folds the sections of pages that hold one table after another."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

LONG = 3_000
"""Minimum number of words of a long page."""
FOLDED = ("parameters", "results", "cli", "python", "tests", "reproduction/")
"""Prefixes of the names of pages whose sections are folded, since a reader needs only one of their sections."""
OPEN = ("claims", "claims-that-hold")
"""Ids of sections that stay open: tables of claims, for which readers open the pages about papers."""
PICTURE = 150
"""Number of words that take as much space on a page as a picture."""
SENTENCE_MAX = 120
"""Maximum length of a sentence that is shown as the title of a fold, in characters."""
SHORT = 60
"""Number of words below which a section is not folded."""


def words(node: nodes.Node) -> int:
    """Returns the length of a part of a page in words. Each picture counts as `PICTURE` words."""
    return len(node.astext().split()) + PICTURE * sum(1 for _ in node.findall(nodes.image))


def arrange(app: Sphinx, document: nodes.document, name: str) -> None:
    """Adds a table of contents to a long HTML page, and folds its sections if its name begins as in `FOLDED`."""
    if app.builder.format != "html" or words(document) < LONG:
        return
    tops = list(document.findall(nodes.section))[:1]
    if not tops:
        return
    if name.startswith(FOLDED):
        for section in tops[0].findall(nodes.section):
            if section is not tops[0] and not set(section["ids"]).intersection(OPEN):
                fold(section)
    sections = [child for child in tops[0].children if isinstance(child, nodes.section)]
    tops[0].insert(1, nodes.raw("", contents(sections), format="html"))


def contents(sections: list[nodes.section]) -> str:
    """Returns the table of contents of a page as HTML: links to its sections and their subsections."""
    lines = ['<nav class="on-this-page" aria-label="On this page"><ul>']
    for section in sections:
        inner = [child for child in section.children if isinstance(child, nodes.section)]
        nested = "".join(f"<li>{link(child)}</li>" for child in inner)
        lines.append(f"<li>{link(section)}{f'<ul>{nested}</ul>' if nested else ''}</li>")
    return "".join([*lines, "</ul></nav>"])


def link(section: nodes.section) -> str:
    """Returns a link to a section as HTML."""
    title = section.next_node(nodes.title)
    words_of_title = title.astext() if title is not None else section["ids"][0]
    return f'<a href="#{escape(section["ids"][0])}">{escape(words_of_title)}</a>'


def fold(section: nodes.section) -> None:
    """Puts the content of a section, up to its first subsection, into a fold that the reader opens with a click.

    `folds.js` opens the fold if the address of the page names the section. Content of fewer than `SHORT` words is not
    folded.
    """
    parts = section.children[1:]
    end = next((at for at, part in enumerate(parts) if isinstance(part, nodes.section)), len(parts))
    held = parts[:end]
    length = sum(map(words, held))
    if length < SHORT:
        return
    rows = sum(1 for part in held for _ in part.findall(nodes.row))
    pictures = sum(1 for part in held for _ in part.findall(nodes.image))
    entries = sum(1 for part in held if isinstance(part, addnodes.desc))
    names = ["1 entry" if entries == 1 else f"{entries} entries"] if entries else [f"{rows} rows"] if rows else []
    names += ["a chart" if pictures == 1 else f"{pictures} charts"] if pictures else []
    size, about = " and ".join(names) or f"{length} words", first_sentence(held)
    opening = f'<details class="fold"><summary>{escape(f"{about} ({size})" if about else size)}</summary>'
    section.insert(1 + end, nodes.raw("", "</details>", format="html"))
    section.insert(1, nodes.raw("", opening, format="html"))


def first_sentence(parts: Sequence[nodes.Node]) -> str:
    """Returns the first sentence of the first paragraph, without its full stop.

    Returns an empty text if there is no paragraph, or if the sentence is longer than `SENTENCE_MAX`.
    """
    for part in parts:
        if isinstance(part, nodes.paragraph):
            sentence = " ".join(part.astext().split()).split(". ")[0].removesuffix(".")
            return sentence if len(sentence) <= SENTENCE_MAX else ""
    return ""


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers `arrange` for each page, to run after Sphinx has resolved the references of the page."""
    app.connect("doctree-resolved", arrange, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
