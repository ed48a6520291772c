"""Grids of one measure: rows for the values of the first varied key, columns for those of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.configuration import value_text
from flashmesh.report.measures.measure import Measure, measure_named
from flashmesh.report.tables.cells import INTERVAL, UNSTEADY, against, has_interval, number_of
from flashmesh.report.tables.view import A_FEW, View

if TYPE_CHECKING:
    from rich.table import Table

    from flashmesh.report.terminal import Terminal

GRID_MAX = 2000
"""Maximum number of points (combinations of varied keys) in a grid; a larger grid fits no terminal."""


def grid(view: View, name: str, terminal: Terminal) -> Table | None:
    """Returns one measure of all points, or its ratio to a baseline, as a grid; None if a grid is not suitable.

    Rows are the values of the first axis, columns the combinations of the others, each with its intervals. A grid is
    not suitable for too many points, if it is too wide, or if points have several seeds. More than `A_FEW` points have
    a grid without intervals if it is too wide with them. If only some points are not steady, these have a mark.
    """
    measure = measure_named(name)
    first, *_ = view.keys or ("",)
    if view.is_repeated or not view.keys:
        return None
    most = view.choice.rows if view.choice.rows is not None else len(view.chosen)
    if len({value_text(point.settings[first]) for point in view.chosen}) > most or len(view.chosen) > GRID_MAX:
        return None
    has_intervals = view.baseline is None and has_interval(view, measure)
    marks = set(view.marks)
    table = grid_of(view, measure, terminal, has_intervals)
    if has_intervals and not terminal.fits(table) and len(view.chosen) > A_FEW:
        table = grid_of(view, measure, terminal, has_intervals=False)
        # This grid has no marks in the place of intervals.
        view.marks = marks
        view.hides_intervals |= terminal.fits(table)
    if not terminal.fits(table):
        return None
    view.has_unsteady_marks |= len({view.table.whether_steady(point) is False for point in view.chosen}) > 1
    return table


def columns_title(view: View) -> str:
    """Returns the end of the title of a grid, with the keys of its columns; empty with a single varied key."""
    _, *others = view.keys
    return f"; columns: {', '.join(others)}" if others else ""


def grid_of(view: View, measure: Measure, terminal: Terminal, has_intervals: bool) -> Table:
    """Returns the grid of one measure of all points, or of its ratio to a baseline, whatever its width."""
    first, *others = view.keys
    cells: dict[str, dict[str, list[str]]] = {}
    is_mixed = len({view.table.whether_steady(point) is False for point in view.chosen}) > 1
    for point, reference in zip(view.chosen, view.references_of(view.chosen), strict=True):
        row = cells.setdefault(value_text(point.settings[first]), {})
        column = ", ".join(value_text(point.settings[key]) for key in others) or measure.name.strip()
        if view.baseline is None:
            told, spread = number_of(view, measure, point)
        else:
            told, spread = against(view, measure, point, reference), ""
        is_marked = is_mixed and view.table.whether_steady(point) is False
        row[column] = [f"{told}{UNSTEADY}" if is_marked else told, *([spread] if has_intervals else [])]
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    headings = [heading for column in columns for heading in (column, *([INTERVAL] if has_intervals else []))]
    table = terminal.table(first, *headings)
    missing = [""] * (1 + has_intervals)
    for value, row in cells.items():
        table.add_row(value, *(cell for column in columns for cell in row.get(column, missing)))
    return table
