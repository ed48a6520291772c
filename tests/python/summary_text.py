"""Summary of a result as text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from flashmesh.report import summary
from flashmesh.report.terminal import Terminal

if TYPE_CHECKING:
    from flashmesh.results import Result


def shown(result: Result) -> str:
    """Returns the summary of a result as it is printed, on one line."""
    stream = io.StringIO()
    summary.show(result, Terminal(stream, 200))
    return " ".join(stream.getvalue().split())
