"""Notes on streams with too few requests, whose figures are therefore uncertain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.report.streams import more_requests
from flashmesh.running.steady import REQUESTS, STREAM_NOISE_MAX, uncertain_streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCARCE_MAX = 0.2
"""Maximum requests of a scarce stream: a share of those of the busiest stream, and of those it is configured with."""
WIDE_MIN = 0.1
"""Minimum half-width of the interval of the p99, as a share of the p99, that is worth a note."""


def note(document: Mapping[str, Any]) -> str:
    """Returns a note on the stream of a run with too few requests; empty without such a stream."""
    return scarce_stream(document) or uncertain_stream(document)


def uncertain_stream(document: Mapping[str, Any]) -> str:
    """Returns a note on the stream of a steady run with the widest interval; empty if all intervals are narrow."""
    found = uncertain_streams(document)
    if not found or document["interrupted"] or not document["steadiness"]["steady"]:
        return ""
    name, width = next(iter(found.items()))
    told = f"All streams together are steady, but the mean latency of {name} is"
    if not math.isfinite(width):
        return f"{told} not known: {name} has too few requests for an interval."
    told = f"{told} known to +-{q.share(width)} only (95 %)"
    if document["precision"] is not None:
        return f"{told}: the precision that was asked for is one of all streams together."
    times = max((width / STREAM_NOISE_MAX) ** 2, 1.1)
    return f"{told}: about {times:.1f} times as many requests of each stream make that +-{q.share(STREAM_NOISE_MAX)}."


def first_note(documents: Iterable[Mapping[str, Any]]) -> str:
    """Returns the note on the first of some runs that has one; empty if none has."""
    return next(filter(None, map(note, documents)), "")


def scarce_stream(document: Mapping[str, Any]) -> str:
    """Returns a note on the stream with the fewest requests; empty if its p99 is known well, or it has enough requests.

    In a run whose warm-up lasts until the drive is steady, streams share the number of measured requests, so that fast
    ones use up the share of slow ones.
    """
    warm_up, window = document["warm_up"], document["measured"]
    if warm_up is None or window is None or warm_up["how"] != "steady" or document["precision"] is not None:
        return ""
    streams = [stream for stream in window["streams"] if stream["requests"]]
    if len(streams) < 2:
        return ""
    least, most = (choose(streams, key=lambda stream: stream["requests"]) for choose in (min, max))
    asked = requests_of(document["configuration"], least["name"])
    if least["requests"] > SCARCE_MAX * min(most["requests"], asked) or is_precise(document, least):
        return ""
    times = math.ceil(asked / least["requests"])
    # A run that is not steady has a factor of its own in its warning.
    is_steady = document["steadiness"]["steady"]
    key = more_requests.keys(document["configuration"])
    more = (
        f"About {times:,} times as many give {least['name']} {asked:,}"
        if is_steady
        else "Raise the requests of each stream"
    )
    return (
        f"{least['name']} has only {least['requests']:,} of the {window['requests']:,} measured requests, so that its "
        "p99 is uncertain: the requests of all streams are one total here, which the faster streams use up. "
        f"{more} ({key})."
    )


def requests_of(configuration: Mapping[str, Any], name: str) -> int:
    """Returns the number of requests that a stream is configured with."""
    table = configuration.get("stream", {}).get(name, configuration)
    asked: int | None = table["workload"].get("requests")
    return REQUESTS if asked is None else asked


def is_precise(document: Mapping[str, Any], stream: Mapping[str, Any]) -> bool:
    """Returns whether the p99 of a stream has a narrow interval."""
    confidence = next(each["confidence"] for each in document["streams"] if each["name"] == stream["name"])
    interval = confidence["latency_ps"]["all"]["p99"] if confidence is not None else None
    if interval is None or stream["latency_ps"]["all"] is None:
        return False
    half: float = (interval["high"] - interval["low"]) / 2
    return half < WIDE_MIN * float(stream["latency_ps"]["all"]["p99"])
