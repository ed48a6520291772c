"""Search of the site that ignores question words: "how can I see the queue depth" finds the pages of "queue depth"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.search.en import SearchEnglish

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

QUESTION = "am an any are can did do does from get had has have he how i me must my one our see set should so some than"
QUESTION += " them there these those use want was we were what when where which who why with would you your"


class Questions(SearchEnglish):
    """English search without the words of `QUESTION`: a page is found even if it does not contain them."""

    stopwords = SearchEnglish.stopwords | frozenset(QUESTION.split())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Registers `Questions` in place of the English search of Sphinx."""
    app.add_search_language(Questions)
    return {"parallel_read_safe": True}
