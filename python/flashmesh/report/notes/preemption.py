"""Note on requests that garbage collection delays, and on the keys that shorten the delay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

BEHIND_MIN = 0.5
"""Minimum share of the latency behind collections for a note."""
BLOCKS_MIN = 2
"""Minimum number of free blocks in a plane at which a collection begins, whatever `gc.threshold` says."""
EARLIER_BLOCKS = 4
"""Free blocks in a plane at which collections begin with the `gc.threshold` that the note advises."""


def share_behind_collections(document: Mapping[str, Any]) -> float:
    """Returns the share of the mean latency of all requests that they wait behind collections; 0 without requests."""
    mean = (document["measured"] or document)["breakdown_ps"]["mean"]
    if mean is None:
        return 0.0
    # The breakdown of a window leaves out incomplete batches, so that its parts need not add up to the mean latency.
    total = sum(value for part, value in mean.items() if part != "count")
    share: float = mean["behind_gc"] / total if total else 0.0
    return share


def delaying_collections(document: Mapping[str, Any]) -> str:
    """Returns a sentence on the keys by which collections delay requests less.

    Empty if no such key is left, or if collections make up a small share of the latency.
    """
    behind = share_behind_collections(document)
    if behind < BEHIND_MIN:
        return ""
    gc, geometry = document["configuration"]["gc"], document["configuration"]["geometry"]
    told = f"Requests spend {q.share(behind)} of their latency waiting for garbage collection"
    if not gc["preemptible"]:
        return (
            f"{told}: a die completes a collection of a block before it serves requests (gc.preemptible = false). "
            "gc.preemptible = true lets requests go first; with it, gc.paced = true spreads collections evenly over "
            "the writes."
        )
    if not gc["paced"]:
        return f"{told}: gc.paced = true spreads collections evenly over the writes."
    if gc["threshold"] * geometry["blocks-per-plane"] < BLOCKS_MIN:
        share = f"{100 * EARLIER_BLOCKS / geometry['blocks-per-plane']:.2g}%"
        return (
            f"{told}: a plane is collected from two free blocks on, and below one its collection precedes requests "
            f'(gc.hard-threshold). gc.threshold = "{share}" begins to collect at {EARLIER_BLOCKS} free blocks.'
        )
    return ""
