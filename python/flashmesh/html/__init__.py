"""Reports as pages: one file with its charts, their scripts and their data, which needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.files import whole_file, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.comparison import Comparison
    from flashmesh.results import Result


def write_report(path: str | Path, *results: Result | Comparison, title: str = "flashmesh") -> None:
    """Makes one page of results, which needs nothing but itself.

    Args:
        path: The HTML file to write.
        results: What it shows.
        title: The title of the page.

    Raises:
        FlashmeshError: When there are no results.
        OutputError: When the file cannot be written.
    """
    from flashmesh.html.page import page
    from flashmesh.html.saved import study_of

    text = page(study_of(results, title))
    with whole_file(path) as target:
        write_text(target, text)
