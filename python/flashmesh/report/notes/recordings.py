"""Warnings about recordings (network, timeline) that became full before the end of their window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDINGS = {
    "network": ("recording of the network", "measure.network-events-max"),
    "timeline": ("timeline", "measure.timeline-events-max"),
}


def cut(document: Mapping[str, Any], *keys: str) -> list[str]:
    """Returns a sentence for each recording, or each in `keys`, that became full before the end of its window."""
    found = []
    for key in keys or RECORDINGS:
        name, limit = RECORDINGS[key]
        recording = document.get(key)
        if recording and recording["is_cut"]:
            end = q.time(recording["end_ps"])
            found.append(f"The {name} ends at {end}, because it was full: raise {limit} for a longer one.")
    return found
