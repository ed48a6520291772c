"""Reports as self-contained HTML pages with their charts, scripts and data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.files import whole_file, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.comparison import Comparison
    from flashmesh.results import Result


def write_report(path: str | Path, *results: Result | Comparison, title: str = "flashmesh") -> None:
    """Writes one self-contained page of results.

    Args:
        path: The HTML file to write.
        results: The results to show.
        title: The title of the page.

    Raises:
        FlashmeshError: If there are no results.
        OutputError: If the file cannot be written.
    """
    from flashmesh.html.page import page
    from flashmesh.html.saved import study_of

    text = page(study_of(results, title))
    with whole_file(path) as target:
        write_text(target, text)
