"""Report of the comparison of an original trace with its copy, which is generated from a profile fitted to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.fitting import TraceComparison, TraceFigure
    from flashmesh.report.terminal import Terminal


def show(comparison: TraceComparison, terminal: Terminal) -> None:
    """Prints the figures of both traces, and marks figures that differ by more than their bound."""
    table = terminal.table("figure", "original", "copy", "difference", "bound", "")
    for figure in comparison.figures:
        original, copy = value(figure, figure.original), value(figure, figure.copy)
        beyond = "" if figure.is_within else "!"
        table.add_row(figure.title, original, copy, difference(figure), bound(figure), beyond)
    terminal.print(table)
    total = len(comparison.figures)
    within = total - len(comparison.misses)
    terminal.print(Text(), Text(f"{within} of {total} figures are within their bounds; ! marks the others."))
    for drive, scale in comparison.time_scales.items():
        if scale > 1.0:
            terminal.print(Text(f"On {drive} times were stretched by {scale:.3g}: it cannot keep up otherwise."))


def value(figure: TraceFigure, number: float | None) -> str:
    """Returns the value of a figure as text with its unit."""
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


def misses(comparison: TraceComparison) -> str:
    """Returns a warning with the figures beyond their bounds; empty if all are within."""
    told = [f"{figure.title} {difference(figure)} (bound {bound(figure)})" for figure in comparison.misses]
    count = f"{len(told)} of {len(comparison.figures)} figures"
    return f"Warning: copies made from it miss {count}: {', '.join(told)}." if told else ""


def bound(figure: TraceFigure) -> str:
    """Returns the bound of a figure as text: as a factor if it is 100 % or more, else in percent."""
    if figure.measure == "relative" and figure.bound >= 1.0:
        return f"factor {1.0 + figure.bound:g}"
    return f"{figure.bound * 100:g} %"


def difference(figure: TraceFigure) -> str:
    """Returns the difference of a figure as text in percent; without a sign for a distance between distributions."""
    if figure.difference is None:
        return q.NONE
    sign = "" if figure.measure == "distance" else "+"
    return f"{figure.difference * 100:{sign}.1f} %"
