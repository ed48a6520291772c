"""Groups of measures of streams that tables of a comparison show by default."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashmesh.report.measures.streams import PREFIX, SLOWDOWN, stream_measure
from flashmesh.report.tables.view import A_FEW

if TYPE_CHECKING:
    from flashmesh.report.measures.measure import Measure
    from flashmesh.report.tables.view import View

GROUP = ("IOPS", "mean", "p99", SLOWDOWN)
"""Measures of each stream that are shown."""
GROUPS_MAX = 6
"""Maximum number of streams that are shown: the first ones."""


def stream_groups(view: View) -> dict[str, list[Measure]]:
    """Returns the measures with values of each shown stream, with short headings.

    Empty if no run has several streams, or there are more than `A_FEW` points.
    """
    if len(view.points) > A_FEW or not view.streams:
        return {}
    groups = {stream: group(stream) for stream in view.streams[:GROUPS_MAX]}
    view.read([measure for measures in groups.values() for measure in measures])
    return {stream: list(filter(view.has, measures)) for stream, measures in groups.items()}


def group(stream: str) -> list[Measure]:
    """Returns the measures of a stream that are shown, with short headings."""
    return [replace(stream_measure(f"{PREFIX}{stream}.{what}"), heading=what) for what in GROUP]


def hidden_streams(view: View) -> int:
    """Returns the number of streams that `stream_groups` leaves out."""
    return max(len(view.streams) - GROUPS_MAX, 0) if len(view.points) <= A_FEW else 0
