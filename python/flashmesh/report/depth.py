"""Streams in open replay that their queue depth, or a saturated drive, keeps below the rate of their requests.

A stream with `replay.outstanding-max` issues a request only when a place is free. It completes at most that many
requests per mean latency, whatever the drive could do with more in flight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.durations import time_ps
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SATURATED = 0.9
"""Minimum busy share of a part of the drive with which the part, not the depth, counts as the limit."""
TOLERANCE = 0.02
"""Minimum share by which a stream misses its rate for it to count as not reached."""
NAMED_MAX = 3
"""Maximum number of streams that a text names."""
JOB = "job"
"""Value of `workload.kind` of the jobs of fio."""


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
    """Mean latency."""
    is_saturated: bool
    """Whether a part of the drive is saturated, so that more requests in flight would mostly wait longer."""

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
        """Returns a sentence on the rate, on what was reached, and on the keys to change."""
        both = ", reads and writes together," if self.is_mix else ""
        if self.is_saturated:
            return (
                f"{self.subject} reached {q.scaled(self.reached)} of its rate of {q.scaled(self.rate)} IOPS{both} with "
                f"{self.in_flight} in flight, on a saturated drive"
            )
        enough = math.ceil(self.rate * self.latency_ps / 10**12)
        remedy = f"replay.outstanding-max = {enough} or more, or a longer workload.interarrival"
        if self.is_job:
            remedy = (
                f"iodepth={enough} or more (with an asynchronous ioengine such as libaio), or a lower rate_iops or rate"
            )
        return (
            f"{self.subject} cannot reach its rate of {q.scaled(self.rate)} IOPS{both} with {self.in_flight} in flight:"
            f" it reached {q.scaled(self.reached)}, since a request takes {q.time(self.latency_ps)}; take {remedy}"
        )


def missed(document: Mapping[str, Any]) -> list[Missed]:
    """Returns the streams of a result that are below their rate with all requests in flight that their depth allows."""
    is_saturated = document["bound"]["share"] >= SATURATED
    tables = document["configuration"].get("stream") or {"": document["configuration"]}
    window = document["measured"]
    streams: Sequence[Mapping[str, Any]] = document["streams"] if window is None else window["streams"]
    found = []
    for stream in streams:
        name = stream["name"] if stream["name"] in tables else ""
        table = tables.get(name, {})
        workload, replay = table.get("workload", {}), table.get("replay", {})
        depth, latency = replay.get("outstanding-max"), stream["latency_ps"]["all"]
        if replay.get("mode") != "open" or depth is None or latency is None or "interarrival" not in workload:
            continue
        rate = 10**12 / (max(time_ps(workload["interarrival"]), 1) * replay.get("time-scale", 1.0))
        reached, mean = stream["iops"], latency["mean"]
        if reached < rate * (1 - TOLERANCE) and rate * mean / 10**12 > depth * (1 + TOLERANCE):
            is_mix = 0 < workload.get("read-share", 0.0) < 1
            found.append(Missed(name, workload.get("kind") == JOB, is_mix, depth, rate, reached, mean, is_saturated))
    return found


def text(streams: Sequence[Missed]) -> str:
    """Returns a text on streams that are below their rate; empty for none."""
    named = "; ".join(stream.told() for stream in streams[:NAMED_MAX])
    more = len(streams) - NAMED_MAX
    return f"{named}; {more:,} more are below their rate, too" if more > 0 else named
