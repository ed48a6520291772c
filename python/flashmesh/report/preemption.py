"""Note on garbage collections that delay requests since requests do not preempt them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY, PACED = "gc.preemptible", "gc.paced"
BEHIND_MIN = 0.5
"""Minimum share of the latency behind collections for a note."""


def share_behind_collections(document: Mapping[str, Any]) -> float:
    """Returns the share of the mean completion latency that requests spend behind collections of their dies."""
    measured = document["measured"]
    found = (document if measured is None else measured)["breakdown_ps"]["mean"]
    if found is None:
        return 0.0
    total = sum(value for part, value in found.items() if part != "count")
    share: float = found["behind_gc"] / total if total else 0.0
    return share


def unpreempted_collections(document: Mapping[str, Any]) -> str:
    """Returns a sentence on the key that lets requests preempt collections.

    Empty if that key is set, or if collections make up a small share of the latency.
    """
    behind = share_behind_collections(document)
    if document["configuration"]["gc"][KEY.removeprefix("gc.")] or behind < BEHIND_MIN:
        return ""
    return (
        f"Requests spend {q.share(behind)} of their latency behind collections: a die completes a collection of a "
        f"block before it serves requests ({KEY} = false). {KEY} = true lets requests go first, and {PACED} = true "
        "spreads collections over the writes."
    )
