"""Notes on the host capacity of drives whose geometry, and so whose raw capacity, was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh._native import Config
from flashmesh.configuration import value_text
from flashmesh.configuring.spare_space import (
    CAPACITY,
    COUNTS,
    SHARE,
    capacity_of,
    is_followed,
    reason,
    shown,
    size_of,
    space_of,
    values_of,
)
from flashmesh.keys import flat
from flashmesh.report import quantities as q
from flashmesh.report.sections import headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.points import Point
    from flashmesh.report.tables.view import View
    from flashmesh.results import Result

NAMED_MAX = 4
"""Maximum number of capacities, other than that of the first point, that a note lists. For more, it gives their
range."""


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


def spare_space(result: Result) -> str:
    """Returns a sentence on the spare space of a drive that has the capacity of a preset, but more or less flash.

    Empty for other drives.
    """
    parameters = result.parameters
    name = headline.preset_of(parameters)
    if not name:
        return ""
    preset = space_of(values_of(Config.from_str(f'preset = "{name}"', name, [])))
    drive = space_of(flat(parameters))
    keeps = capacity_of(preset, drive, None) if drive.capacity == preset.capacity else None
    if keeps is None or drive.share is None or preset.share is None or drive.capacity is None:
        return ""
    return (
        f"{q.share(float(drive.share))} of the flash is spare space, in {name} {q.share(float(preset.share))}: the "
        f"geometry was changed, and {CAPACITY} is still {shown(drive.capacity)}. {shown(keeps)} keeps the share."
    )


def firsts(points: Sequence[Point[int]], keys: Sequence[str]) -> list[Point[int]]:
    """Returns the first point (combination of all varied keys) with each combination of the values of `keys`."""
    found: dict[str, Point[int]] = {}
    for point in points:
        found.setdefault(settings_text(point.settings, keys), point)
    return list(found.values())


def settings_text(settings: dict[str, Any], keys: Sequence[str]) -> str:
    """Returns the settings of `keys` as text, such as `key=value, key=value`."""
    return ", ".join(f"{key}={value_text(settings[key])}" for key in keys)
