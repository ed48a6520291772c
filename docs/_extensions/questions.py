"""Searches the site for what a question is about: "how do I change the queue depth" finds what "queue depth" does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.search.en import SearchEnglish

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

QUESTION = "am an any are can did do does from get had has have he how i me must my one our see set should so some than"
QUESTION += " them there these those use want was we were what when where which who why with would you your"


class Questions(SearchEnglish):
    """English, without the words that make a question: a page need not have them."""

    stopwords = SearchEnglish.stopwords | frozenset(QUESTION.split())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Takes the place of the search in English."""
    app.add_search_language(Questions)
    return {"parallel_read_safe": True}
