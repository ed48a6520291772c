"""Notes on the write throttle of a preset that limits a drive of another geometry or other flash."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh._native import Config, presets
from flashmesh.configuration import value_text
from flashmesh.keys import flat
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.report.tables.view import View

INTERVAL, SHARE = "cache.throttle-interval", "cache.throttle-share"
OFF = "0ps"
PARTS = ("geometry.", "flash.")
"""Sections whose keys determine how fast a drive programs and collects."""
SIZES = ("geometry.blocks-per-plane", "geometry.pages-per-block", "geometry.capacity", "geometry.over-provisioning")
"""Keys that only make a drive smaller or larger, not faster."""
DELAYED_MIN = 0.5
"""Minimum share of the pages written that the throttle delays for a note."""
READ_MAX = 50
"""Maximum number of points whose results are read for a note."""
NAMED_MAX = 3
"""Maximum number of differing keys that a note lists."""


@cache
def throttled_presets() -> dict[tuple[str, Any], tuple[str, dict[str, Any]]]:
    """Returns name and values of the presets with a throttle, by its interval and share."""
    found = {}
    for name in presets():
        values = flat(json.loads(Config.from_str(f'preset = "{name}"', name, []).to_json()))
        if values[INTERVAL] != OFF:
            found[throttle_of(values)] = (name, values)
    return found


def throttle_of(values: Mapping[str, Any]) -> tuple[str, Any]:
    """Returns interval and share of the throttle of a drive, from its values by dotted key."""
    return values.get(INTERVAL, OFF), values.get(SHARE)


def delayed_share(document: Mapping[str, Any]) -> float:
    """Returns the share of the pages written that waited for the throttle; 0 without a device cache."""
    found = document["cache"]
    written = sum(found["writes"].values()) if found is not None else 0
    return min(found["throttled"] / written, 1.0) if written else 0.0


def foreign_throttle(document: Mapping[str, Any]) -> str:
    """Returns a sentence on a throttle that limits a run, and that a preset has for a drive with other keys.

    Empty if the throttle hardly delays writes, is of no preset, or belongs to a drive of this geometry and flash.
    """
    delayed = delayed_share(document)
    if delayed < DELAYED_MIN:
        return ""
    values = flat(document["configuration"])
    name, of_preset = throttled_presets().get(throttle_of(values), ("", {}))
    differing = [
        f"{key} = {value_text(of_preset[key])}, here {value_text(values.get(key))}"
        for key in of_preset
        if key.startswith(PARTS) and key not in SIZES and of_preset[key] != values.get(key)
    ]
    if not differing:
        return ""
    more = f" and {len(differing) - NAMED_MAX} other keys" if len(differing) > NAMED_MAX else ""
    return (
        f"The throttle of {name} ({INTERVAL} = {values[INTERVAL]}) delayed {q.share(delayed)} of the pages written. It "
        f"is that of a drive with {'; '.join(differing[:NAMED_MAX])}{more}. {INTERVAL} = {OFF} turns it off."
    )


def throttle_notes(view: View) -> list[str]:
    """Returns a list with a note on the first shown point that the throttle of another drive limits; else empty.

    Reads the results of at most `READ_MAX` points with throttled writes.
    """
    (throttled,) = view.table.columns(["cache.throttled"])
    numbers = [point.runs[0] for point in view.points if throttled[point.runs[0]]]
    return list(filter(None, map(foreign_throttle, view.table.documents(numbers[:READ_MAX]))))[:1]
