"""Note on garbage collections that delay requests since requests do not preempt them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.results.window import windowed

if TYPE_CHECKING:
    from collections.abc import Mapping

BEHIND_MIN = 0.5
"""Minimum share of the latency behind collections for a note."""


def share_behind_collections(document: Mapping[str, Any]) -> float:
    """Returns the share of the mean latency of all requests that they wait behind collections; 0 without requests."""
    measured = windowed(document)
    mean, latency = measured["breakdown_ps"]["mean"], measured["latency_ps"]["all"]
    if mean is None or latency is None:
        return 0.0
    share: float = mean["behind_gc"] / latency["mean"]
    return share


def unpreempted_collections(document: Mapping[str, Any]) -> str:
    """Returns a sentence on the keys that let requests preempt collections.

    Empty if requests already preempt collections, or if collections make up a small share of the latency.
    """
    behind = share_behind_collections(document)
    if document["configuration"]["gc"]["preemptible"] or behind < BEHIND_MIN:
        return ""
    return (
        f"Requests spend {q.share(behind)} of their latency waiting for garbage collection: a die completes a "
        "collection of a block before it serves requests (gc.preemptible = false). gc.preemptible = true lets requests "
        "go first; with it, gc.paced = true spreads collections evenly over the writes."
    )
