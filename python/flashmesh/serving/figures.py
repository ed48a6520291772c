"""Live statistics of a served drive, and whether its replies keep up with real time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

LATE = "more than 100 us and 5 % of their latency late"
"""Definition of a late reply, as text in messages; the plugin counts late replies by the same definition."""
PS_PER_US = 1_000_000
PS_PER_S = 10**12
REQUEST_BYTES = 28
"""Size in bytes of an NBD request without the data of a write."""
SEEN_TIMES = 3.0
"""Minimum ratio of the latency that clients see to the latency of the drive for which a note is printed."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Counters of a served drive since it was started."""

    size: int = 0
    """Size of the exported device in bytes."""
    requests: int = 0
    bytes: int = 0
    latency_ps: int = 0
    """Sum of the latencies of all requests in the drive, in picoseconds."""
    simulated_ps: int = 0
    outstanding: int = 0
    late: int = 0
    """Number of late replies, as defined by `LATE`."""
    late_max_us: int = 0
    """Maximum delay of a reply since the previous line of counters, in microseconds."""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Figures:
        """Creates counters from the parsed line that the plugin prints."""
        return cls(**line)


@dataclass(slots=True)
class Clients:
    """Estimate of the latency that clients see, by Little's law: requests in flight divided by requests per second."""

    time_scale: float
    in_flight_s: float = 0.0
    """Requests in flight, in the drive and in the socket, integrated over wall time in seconds."""
    looked_at: float | None = None

    def look(self, figures: Figures, waiting_bytes: int, now: float) -> None:
        """Adds the requests in flight times the time since the previous call. The first call only stores the time."""
        if self.looked_at is not None:
            in_flight = figures.outstanding + requests_in(waiting_bytes, figures)
            self.in_flight_s += in_flight * (now - self.looked_at)
        self.looked_at = now

    def told(self, in_flight_s: float, before: Figures, now: Figures) -> str:
        """Returns a sentence on the mean latency that clients saw in an interval.

        Empty if that latency is below `SEEN_TIMES` times that of the drive, without requests, or in virtual time.

        Args:
            in_flight_s: The value of `in_flight_s` at the start of the interval.
            before: The counters at the start of the interval.
            now: The current counters.
        """
        requests = now.requests - before.requests
        if requests <= 0 or not self.time_scale:
            return ""
        seen_ps = (self.in_flight_s - in_flight_s) / requests * PS_PER_S
        own_ps = (now.latency_ps - before.latency_ps) / requests
        times = seen_ps / (own_ps * self.time_scale) if own_ps else 0.0
        if times < SEEN_TIMES:
            return ""
        seen, own = q.time(round(seen_ps)), q.time(round(own_ps))
        return (
            f"clients wait about {seen}, {times:.3g} times the latency of the drive ({own}): "
            "requests wait in the socket for the server"
        )


def requests_in(waiting_bytes: int, figures: Figures) -> int:
    """Returns the estimated number of requests in the unread bytes of a socket.

    If the bytes are whole requests without data, all count as reads; otherwise all count as writes of mean size.
    """
    if waiting_bytes % REQUEST_BYTES == 0:
        return waiting_bytes // REQUEST_BYTES
    data = figures.bytes // figures.requests if figures.requests else 0
    return waiting_bytes // (REQUEST_BYTES + data)


def rates(before: Figures, now: Figures, seconds: float) -> str:
    """Returns a line with statistics of the requests between the counters `before` and `now`."""
    requests = now.requests - before.requests
    if requests == 0:
        return f"idle  {now.requests:,} requests so far  {q.time(now.simulated_ps)} simulated"
    mean = (now.latency_ps - before.latency_ps) // requests
    late = f"  {now.late - before.late:,} late" if now.late > before.late else ""
    return (
        f"{q.scaled(requests / seconds)} requests/s  {(now.bytes - before.bytes) / seconds / 1e6:,.1f} MB/s  "
        f"latency {q.time(mean)} (mean)  {now.outstanding} in flight  {q.time(now.simulated_ps)} simulated{late}"
    )


def behind(before: Figures, now: Figures, late_max_us: int, time_scale: float) -> str:
    """Returns a warning with the number of late replies between the counters `before` and `now`."""
    requests, late = now.requests - before.requests, now.late - before.late
    return (
        f"real time does not hold: {late:,} of {requests:,} requests were answered {LATE}, by up to "
        f"{q.time(late_max_us * PS_PER_US)}; --time-scale {10 * time_scale:g} gives the simulation ten times as long"
    )
