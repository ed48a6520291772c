"""An original trace and its copy, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.fitting import TOLERANCE
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.fitting import TraceComparison, TraceFigure
    from flashmesh.report.terminal import Terminal


def show(comparison: TraceComparison, terminal: Terminal) -> None:
    """Prints the figures of both, and points out those that differ too much."""
    table = terminal.table("figure", "original", "copy", "difference", "")
    for figure in comparison.figures:
        beyond = "" if figure.is_within() else "!"
        table.add_row(
            figure.title, value(figure, figure.original), value(figure, figure.copy), difference(figure), beyond
        )
    terminal.print(table)
    beyond_count = sum(not figure.is_within() for figure in comparison.figures)
    total = len(comparison.figures)
    terminal.print(
        Text(), Text(f"{total - beyond_count} of {total} figures are within {TOLERANCE:.0%}; ! marks the others.")
    )
    for drive, scale in comparison.time_scales.items():
        if scale > 1.0:
            terminal.print(Text(f"On {drive} times were stretched by {scale:.3g}: it cannot keep up otherwise."))


def value(figure: TraceFigure, number: float | None) -> str:
    """A figure with its unit."""
    if number is None:
        return q.NONE
    match figure.unit:
        case "share":
            return q.share(number)
        case "bytes":
            return q.size(number)
        case "ps":
            return q.time(number)
        case "1/s":
            return f"{q.scaled(number)}/s"
        case _:
            return f"{number:,.4g}" if number < 10_000 else f"{number:,.0f}"


def difference(figure: TraceFigure) -> str:
    """The difference in percent; of distributions without a sign."""
    if figure.difference is None:
        return q.NONE
    sign = "+" if figure.measure == "relative" else ""
    return f"{figure.difference * 100:{sign}.1f} %"
