"""Streams in open replay that miss the rate of their requests because of their queue depth or the limits of the drive.

A stream with `replay.outstanding-max` issues a request only when a place is free. It completes at most that many
requests per mean latency, whatever the drive could do with more in flight. More in flight do not help where a part of
the drive is saturated, or where requests mostly wait for space in a full device cache, which empties at its own rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.results.streams import configured_streams
from flashmesh.texts.durations import time_ps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SATURATED = 0.9
"""Minimum busy share of a part of the drive with which the part, not the depth, counts as the limit."""
TOLERANCE = 0.02
"""Minimum share by which a stream misses its rate for it to count as not reached."""
DEPTH_MAX = 65_535
"""Maximum value of `replay.outstanding-max`."""
NAMED_MAX = 3
"""Maximum number of streams that a text names."""
LISTED_MAX = 5
"""Maximum number of further streams whose names a text lists."""
RISES = "more as latency rises with the depth"
"""Reservation about a depth that is computed from the latency at a smaller depth."""
PARTS = {
    "host-link": "the host link",
    "adapter": "the SATA adapter",
    "links": "its links",
    "controllers": "its controllers",
    "firmware": "the cores of its firmware",
    "dram": "the DRAM of its cache",
    "throttle": "its write throttle",
    "dies": "its dies",
    "garbage-collection": "its dies, mostly in garbage collection",
}
"""Saturated parts of a drive in words, by `bound.resource`."""
WAITING = 0.5
"""Minimum share of the mean latency of a stream from which on a wait, not the depth, counts as the limit."""
JOB = "job"
"""Value of `workload.kind` of the jobs of fio."""


@dataclass(frozen=True, slots=True)
class Together:
    """Number and total throughput of the streams that run in one phase."""

    streams: int
    rated: int
    """Number of the streams that have a rate."""
    are_jobs: bool
    """Whether all streams are jobs of fio."""
    iops: float
    bandwidth_bytes_per_s: float

    def told(self) -> str:
        """Returns that the drive does not sustain the rates of the streams, with their total throughput."""
        noun = "jobs" if self.are_jobs else "streams"
        reached = f"{q.scaled(self.iops)} IOPS and {q.bandwidth(self.bandwidth_bytes_per_s)}"
        if self.rated < self.streams:
            rates = "this rate" if self.rated == 1 else "these rates"
            others = self.streams - self.rated
            free = (
                f"{others:,} {noun} without a rate run"
                if others > 1
                else f"1 {noun.removesuffix('s')} without a rate runs"
            )
            all_of = f"all {self.streams:,} {noun} together reach {reached}"
            return f"the drive does not sustain {rates} while {free}; {all_of}"
        told = f"the drive does not sustain the rates of the {self.streams:,} {noun} together"
        return f"{told}, which reach {reached} in all"


@dataclass(frozen=True, slots=True)
class Missed:
    """A stream that is below its rate although as many requests are in flight as its depth allows."""

    name: str
    """Name of the stream; empty for the only stream of a run."""
    is_job: bool
    """Whether the stream is a job of fio."""
    is_mix: bool
    """Whether the stream reads and writes, so that its rate is that of both together."""
    depth: int
    rate: float
    """Requests per second that the configuration asks for."""
    reached: float
    """Completed requests per second."""
    latency_ps: float
    """Mean time from the issue of a request to its completion."""
    limit: str
    """Limit in the drive that keeps the stream below its rate, in words; empty if the queue depth is the limit."""
    together: Together

    @property
    def subject(self) -> str:
        """Name of the stream or job in a sentence."""
        noun = "job" if self.is_job else "stream"
        return f"{noun} {self.name}" if self.name else f"the {noun}"

    @property
    def in_flight(self) -> str:
        """The depth in words."""
        return "1 request" if self.depth == 1 else f"{self.depth:,} requests"

    def told(self) -> str:
        """Returns a sentence on the rate, on what was reached, and on the limit of the drive or the keys to change."""
        both = ", reads and writes together," if self.is_mix else ""
        if self.limit:
            return (
                f"{self.subject} reached {q.scaled(self.reached)} of its rate of {q.scaled(self.rate)} IOPS{both} with "
                f"{self.in_flight} in flight, {self.limit}"
            )
        enough = math.ceil(self.rate * self.latency_ps / 10**12)
        remedy = f"replay.outstanding-max = {enough:,} at least ({RISES}), or a longer workload.interarrival"
        if enough > DEPTH_MAX:
            remedy = "a longer workload.interarrival"
        elif self.is_job:
            remedy = (
                f"iodepth={enough} at least ({RISES}) with an asynchronous ioengine such as libaio, or a lower "
                "rate_iops or rate"
            )
        return (
            f"{self.subject} cannot reach its rate of {q.scaled(self.rate)} IOPS{both} with {self.in_flight} in flight:"
            f" it reached {q.scaled(self.reached)}, since a request takes {q.time(self.latency_ps)}; take {remedy}"
        )


def missed(document: Mapping[str, Any]) -> list[Missed]:
    """Returns the streams of a result that are below their rate with all requests in flight that their depth allows."""
    found = []
    for stream, table in configured_streams(document):
        workload, replay = table.get("workload", {}), table.get("replay", {})
        depth, latency, reached = replay.get("outstanding-max"), stream["latency_ps"]["all"], stream["iops"]
        rate = rate_of(table)
        if replay.get("mode") != "open" or depth is None or latency is None or not rate or not reached:
            continue
        # A latency from the arrival includes the wait for a free place. From the issue, it follows by Little's law.
        from_issue = latency["mean"] if starts_at_issue(replay) else depth * 10**12 / reached
        if reached < rate * (1 - TOLERANCE) and rate * from_issue / 10**12 > depth * (1 + TOLERANCE):
            name = stream["name"] if "stream" in document["configuration"] else ""
            is_mix = 0 < workload.get("read-share", 0.0) < 1
            needed = rate * from_issue / 10**12
            limit, together = limit_of(document, stream["name"], needed), together_with(document, replay)
            found.append(Missed(name, is_job(workload), is_mix, depth, rate, reached, from_issue, limit, together))
    return found


def rate_of(table: Mapping[str, Any]) -> float:
    """Returns the requests per second that the tables of a stream ask for; 0 if they state no rate."""
    interarrival = time_ps(table.get("workload", {}).get("interarrival", "0ps"))
    return 10**12 / (interarrival * table.get("replay", {}).get("time-scale", 1.0)) if interarrival else 0.0


def limit_of(document: Mapping[str, Any], name: str, needed: float) -> str:
    """Returns what in the drive keeps a stream below its rate, in words; empty if the drive could complete more.

    This is a saturated part, or a wait that takes most of the latency of the stream and that more requests in flight
    would only lengthen: for space in the device cache, or for collection with requests enough for every die.

    Args:
        document: The result.
        name: Name of the stream.
        needed: The requests in flight that its rate takes at its latency.
    """
    bound = document["bound"]
    if bound["share"] >= SATURATED:
        part = PARTS.get(bound["resource"])
        busy = f" ({part}: {q.share(bound['share'])} busy)" if part else ""
        return f"on a saturated drive{busy}"
    times = mean_times(document["streams"], name)
    total = sum(times.values())
    for key, what, counts in (
        ("cache", "waiting for space in the device cache", is_cache_full(document)),
        ("behind_gc", "behind garbage collection", fills_dies(document) or needed >= dies_of(document)),
    ):
        if counts and times.get(key, 0.0) >= WAITING * total > 0:
            return f"and {q.share(times[key] / total)} of its latency is spent {what}"
    return ""


def mean_times(streams: Sequence[Mapping[str, Any]], name: str) -> dict[str, float]:
    """Returns the parts of the mean latency of a stream in picoseconds; empty if they are unknown."""
    for stream in streams:
        if stream["name"] == name:
            mean = (stream.get("breakdown_ps") or {}).get("mean") or {}
            return {key: time for key, time in mean.items() if key != "count"}
    return {}


def is_cache_full(document: Mapping[str, Any]) -> bool:
    """Returns whether the time of writes in the device cache is mostly a wait for space."""
    cache, written = document["cache"], document["breakdown_ps"]["write"]["mean"]
    if cache is None or written is None or not cache["waits"]:
        return False
    pages: int = sum(cache["writes"].values())
    # The other part of this time is the access to the DRAM.
    return bool(cache["wait_ps"] >= WAITING * pages * written["cache"])


def fills_dies(document: Mapping[str, Any]) -> bool:
    """Returns whether at least as many commands are in flight as the drive has dies."""
    return bool(sum(queue["occupancy_mean"] for queue in document["host"]["queues"]) >= dies_of(document))


def dies_of(document: Mapping[str, Any]) -> int:
    """Returns the number of dies of the drive."""
    geometry = document["configuration"]["geometry"]
    return int(geometry["channels"] * geometry["chips-per-channel"] * geometry["dies-per-chip"])


def together_with(document: Mapping[str, Any], replay: Mapping[str, Any]) -> Together:
    """Returns number and total throughput of the streams that run in the phase of the replay section `replay`."""
    found = [
        (stream, table)
        for stream, table in configured_streams(document)
        if table.get("replay", {}).get("phase", 0) == replay.get("phase", 0)
    ]
    return Together(
        len(found),
        sum(table.get("replay", {}).get("mode") == "open" and rate_of(table) > 0 for _, table in found),
        all(is_job(table.get("workload", {})) for _, table in found),
        sum(stream["iops"] for stream, _ in found),
        sum(stream["bandwidth_bytes_per_s"] for stream, _ in found),
    )


def explains_backlog(document: Mapping[str, Any]) -> bool:
    """Returns whether the backlog of a result is no reason against its steadiness.

    This is so if the depth of some streams in open replay keeps them below their rates, with latencies that begin at
    the issue of requests, and all other streams in open replay reach their rates: the depth is then always full, and
    the latencies do not grow.
    """
    found = missed(document)
    names = {stream.name for stream in found}
    for stream, table in configured_streams(document):
        replay = table.get("replay", {})
        if replay.get("mode") != "open":
            continue
        is_missed = stream["name"] in names or names == {""}
        is_kept = 0 < rate_of(table) * (1 - TOLERANCE) <= stream["iops"]
        if not (starts_at_issue(replay) if is_missed else is_kept):
            return False
    return bool(found)


def starts_at_issue(replay: Mapping[str, Any]) -> bool:
    """Returns whether latencies of a stream begin at the issue of a request, not at its arrival."""
    return replay.get("latency-start") == "issue"


def is_job(workload: Mapping[str, Any]) -> bool:
    """Returns whether a workload is a job of fio."""
    return workload.get("kind") == JOB


def text(streams: Sequence[Missed]) -> str:
    """Returns a text on streams that are below their rate; empty for none."""
    by_drive = [stream for stream in streams if stream.limit]
    ordered = [*by_drive, *(stream for stream in streams if not stream.limit)]
    sentences = [stream.told() for stream in ordered[:NAMED_MAX]]
    if by_drive:
        together = by_drive[0].together
        others = "take from the others or wait longer" if together.streams > 1 else "wait longer"
        last = min(len(by_drive), NAMED_MAX) - 1
        rates = "rate" if together.rated == 1 else "rates"
        sentences[last] += f"; more in flight would only {others}, so lower the {rates}"
        if together.streams > 1:
            sentences[0] = f"{together.told()}: {sentences[0]}"
    named = "; ".join(sentences)
    left = ordered[NAMED_MAX:]
    if not left:
        return named
    names = ", ".join(stream.name for stream in left[:LISTED_MAX])
    more = f" and {len(left) - LISTED_MAX:,} more" if len(left) > LISTED_MAX else ""
    return f"{named}; below their rate, too: {names}{more}"
