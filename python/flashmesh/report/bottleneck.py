"""Sentence on the bottleneck of a result, where the settings of its streams limit it and not the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report.depth import missed

if TYPE_CHECKING:
    from collections.abc import Mapping

BEHIND = "the drive falls behind the arrivals"
"""Start of `bound.sentence` of a run with open replay, in which no part of the drive is saturated."""


def bound_sentence(document: Mapping[str, Any]) -> str:
    """Returns the sentence on the bottleneck of a result.

    It names the queue depth that keeps streams below their rate, if this limits the run.
    """
    return restated(document["bound"]["sentence"], document)


def restated(sentence: str, document: Mapping[str, Any]) -> str:
    """Returns the sentence on the bottleneck, from `bound.sentence` of a document."""
    _, _, busy = sentence.partition(": ")
    if sentence.startswith(BEHIND) and (found := missed(document)):
        others = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        return f"bound by the queue depth of {found[0].subject}{others}, always {found[0].in_flight} in flight: {busy}"
    return sentence
