"""Texts of measures of points for the cells of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q
from flashmesh.report.tables.marks import UNKNOWN_NOISE

if TYPE_CHECKING:
    from flashmesh.aggregate.estimate import Estimate
    from flashmesh.aggregate.points import Point
    from flashmesh.report.measures.measure import Measure
    from flashmesh.report.tables.view import View

COUNT_MIN = 1000
"""Smallest mean of a count that is shown as a whole number."""
INTERVAL = "95 %"
"""Heading of a column of confidence intervals."""
UNSTEADY = " *"
"""Mark of a point in a grid whose measured window is not steady."""


def against(view: View, measure: Measure, point: Point[int], reference: Point[int] | None) -> str:
    """Returns the ratio of the means of a point and its reference as text, with a mark if noise may explain it.

    A dash if the measure is one of the length of runs, and the runs are not equally long.
    """
    if measure.is_of_length and not view.are_equally_long(point, reference):
        return q.NONE
    times = q.ratio(view.mean(measure, point), view.mean(measure, reference))
    return f"{times} {view.mark(measure, point, reference, times)}".rstrip()


def has_interval(view: View, measure: Measure) -> bool:
    """Returns whether tables have a second column for the confidence intervals of a measure."""
    return view.is_repeated or (view.has_intervals and measure.interval is not None)


def number_of(view: View, measure: Measure, point: Point[int]) -> tuple[str, str]:
    """Returns (mean, interval) of a measure as texts; for texts and truth values, (distinct values, empty)."""
    values = view.of_point(measure, point)
    if any(isinstance(value, str | bool) for value in values):
        return " or ".join(dict.fromkeys(map(measure.text, values))), ""
    found = view.estimate(measure, point)
    if len(values) == 1:
        return measure.text(values[0]), spread_of(view, measure, found)
    if found is None:
        return measure.text(None), ""
    are_counts = all(isinstance(value, int) for value in values) and abs(found.mean) >= COUNT_MIN
    return measure.text(round(found.mean) if are_counts else found.mean), found.spread_text


def spread_of(view: View, measure: Measure, found: Estimate | None) -> str:
    """Returns the interval of a single run as text; a mark if the run has too few requests for this interval."""
    if found is None or found.low is not None or measure.interval is None or not view.has_intervals:
        return found.spread_text if found is not None else ""
    view.marks.add(UNKNOWN_NOISE)
    return UNKNOWN_NOISE
