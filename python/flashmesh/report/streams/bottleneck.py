"""Sentence on the bottleneck of a result, for results that settings of streams limit, not the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.report.streams.depth import missed
from flashmesh.results.streams import configured_streams
from flashmesh.texts.durations import time_ps

if TYPE_CHECKING:
    from collections.abc import Mapping

BEHIND, BY_LATENCY = "the drive falls behind the arrivals", "bound by latency"
"""Starts of `bound.sentence` of a run in which no part of the drive is saturated: in open replay, and in others."""
THINKING_MIN = 0.5
"""Minimum share of its time that a stream spends thinking for the think time to count as the bottleneck."""


def is_restated(sentence: object) -> bool:
    """Returns whether `bound_sentence` may replace the value of `bound.sentence`."""
    return str(sentence).startswith((BEHIND, BY_LATENCY))


def bound_sentence(document: Mapping[str, Any]) -> str:
    """Returns the sentence on the bottleneck of a result.

    It names the queue depth that keeps streams below their rate, or the think time, if these limit the run.
    """
    sentence: str = document["bound"]["sentence"]
    _, _, busy = sentence.partition(": ")
    found = [stream for stream in missed(document) if not stream.limit] if sentence.startswith(BEHIND) else []
    if found and len(found) == len(document["streams"]):
        others = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        return f"bound by the queue depth of {found[0].subject}{others}, always {found[0].in_flight} in flight: {busy}"
    if sentence.startswith(BY_LATENCY) and (times := think_times(document)):
        each = " to ".join(dict.fromkeys([q.time(min(times)), q.time(max(times))]))
        return f"bound by the think time, {each} for each request and longer than the request: {busy}"
    return sentence


def think_times(document: Mapping[str, Any]) -> list[float]:
    """Returns the think time for each request of every stream in picoseconds; empty if a stream thinks too little."""
    found = []
    for stream, table in configured_streams(document):
        replay, latency = table.get("replay", {}), stream["latency_ps"]["all"]
        if replay.get("mode") != "closed" or latency is None:
            return []
        think = time_ps(replay.get("think-time", "0ps")) / replay.get("think-every", 1)
        if think < THINKING_MIN * (think + latency["mean"]):
            return []
        found.append(think)
    return found
