"""Streams in open replay that miss the rate of their requests because of their queue depth or a saturated drive.

A stream with `replay.outstanding-max` issues a request only when a place is free. It completes at most that many
requests per mean latency, whatever the drive could do with more in flight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.durations import time_ps
from flashmesh.report import quantities as q
from flashmesh.results.streams import configured_streams

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
RISES = "more as latency rises with the depth"
"""Reservation about a depth that is computed from the latency at a smaller depth."""
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
    """Mean time from the issue of a request to its completion."""
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
    is_saturated = document["bound"]["share"] >= SATURATED
    found = []
    for stream, table in configured_streams(document):
        workload, replay = table.get("workload", {}), table.get("replay", {})
        depth, latency, reached = replay.get("outstanding-max"), stream["latency_ps"]["all"], stream["iops"]
        interarrival = time_ps(workload.get("interarrival", "0ps"))
        if replay.get("mode") != "open" or depth is None or latency is None or not interarrival or not reached:
            continue
        rate = 10**12 / (interarrival * replay.get("time-scale", 1.0))
        # A latency from the arrival includes the wait for a free place. From the issue, it follows by Little's law.
        from_issue = latency["mean"] if starts_at_issue(replay) else depth * 10**12 / reached
        if reached < rate * (1 - TOLERANCE) and rate * from_issue / 10**12 > depth * (1 + TOLERANCE):
            name = stream["name"] if "stream" in document["configuration"] else ""
            is_mix = 0 < workload.get("read-share", 0.0) < 1
            found.append(Missed(name, is_job(workload), is_mix, depth, rate, reached, from_issue, is_saturated))
    return found


def explains_backlog(document: Mapping[str, Any]) -> bool:
    """Returns whether the backlog of a result is no reason against its steadiness.

    This is so if the depth of each stream in open replay keeps the stream below its rate, and latencies begin at the
    issue of requests: the depth is then always full, and the latencies do not grow.
    """
    replays = [table.get("replay", {}) for _, table in configured_streams(document)]
    following = [replay for replay in replays if replay.get("mode") == "open"]
    return len(missed(document)) == len(following) > 0 and all(map(starts_at_issue, following))


def starts_at_issue(replay: Mapping[str, Any]) -> bool:
    """Returns whether latencies of a stream begin at the issue of a request, not at its arrival."""
    return replay.get("latency-start") == "issue"


def is_job(workload: Mapping[str, Any]) -> bool:
    """Returns whether a workload is a job of fio."""
    return workload.get("kind") == JOB


def text(streams: Sequence[Missed]) -> str:
    """Returns a text on streams that are below their rate; empty for none."""
    named = "; ".join(stream.told() for stream in streams[:NAMED_MAX])
    more = len(streams) - NAMED_MAX
    return f"{named}; {more:,} more are below their rate, too" if more > 0 else named
