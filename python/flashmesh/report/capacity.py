"""Notes on the host capacities of a comparison, which differ if a varied geometry changes the raw capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.configuration import value_text
from flashmesh.spare_space import CAPACITY, COUNTS, SHARE, is_followed, reason, shown, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.points import Point
    from flashmesh.report.view import View

NAMED_MAX = 4
"""Maximum number of capacities unlike that of the first point that a note lists; for more, it states the range."""


def capacity_notes(view: View) -> list[str]:
    """Returns a list with a line on the host capacities of the compared drives; empty if all have the same capacity."""
    if not is_followed(view.table.axes):
        return []
    keys = [key for key in view.table.axes if key in (*COUNTS, SHARE)]
    points = firsts(view.chosen, keys)
    documents = view.table.documents([point.runs[0] for point in points])
    found = [document["configuration"]["geometry"].get("capacity") for document in documents]
    capacities = {capacity for capacity in found if capacity is not None}
    if len(capacities) < 2:
        return []
    why = reason(keys)
    before, changed = found[0], [each for each in zip(found, points, strict=True) if each[0] != found[0]]
    if len(changed) > NAMED_MAX or before is None:
        ordered = sorted(capacities, key=size_of)
        return [f"{CAPACITY} {shown(ordered[0])} to {shown(ordered[-1])}, by {', '.join(keys)} ({why})"]
    each = [f"{shown(capacity)} with {settings_text(point.settings, keys)}" for capacity, point in changed]
    return [f"{CAPACITY} {shown(before)} -> {', '.join(each)} ({why})"]


def firsts(points: Sequence[Point[int]], keys: Sequence[str]) -> list[Point[int]]:
    """Returns the first point (combination of all varied keys) with each combination of the values of `keys`."""
    found: dict[str, Point[int]] = {}
    for point in points:
        found.setdefault(settings_text(point.settings, keys), point)
    return list(found.values())


def settings_text(settings: dict[str, Any], keys: Sequence[str]) -> str:
    """Returns the settings of `keys` as text, such as `key=value, key=value`."""
    return ", ".join(f"{key}={value_text(settings[key])}" for key in keys)
