"""The live figures of a served drive, and whether it keeps up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping

LATE = "more than 100 us and 5 % of their latency late"
"""Which answers count as late, as the plugin has it."""
PS_PER_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Figures:
    """What has been counted since the start."""

    size: int = 0
    """The bytes that clients see."""
    requests: int = 0
    bytes: int = 0
    latency_ps: int = 0
    """The sum of all latencies."""
    simulated_ps: int = 0
    outstanding: int = 0
    late: int = 0
    """Requests that were answered later than the drive has it."""
    late_max_us: int = 0
    """By how much at most, since the figures before."""

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Figures:
        """The figures out of a line of the plugin."""
        return cls(**line)


def rates(before: Figures, now: Figures, seconds: float) -> str:
    """What happened between two moments, in one line."""
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
    """That requests were answered late between two moments, and by how much."""
    requests, late = now.requests - before.requests, now.late - before.late
    return (
        f"real time does not hold: {late:,} of {requests:,} requests were answered {LATE}, by up to "
        f"{q.time(late_max_us * PS_PER_US)}; --time-scale {10 * time_scale:g} gives the simulation ten times as long"
    )
