"""What became of each stream, and what the others did to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flashmesh.results.latency import BreakdownByPart, LatencyByKind


@dataclass(frozen=True, slots=True)
class StreamResult:
    """What became of one stream; its rates count up to its last completion."""

    name: str
    requests: int
    makespan_ps: int
    """From the start to its last completion."""
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind
    breakdown_ps: BreakdownByPart
    workload: dict[str, Any] | None
    """As `Result.workload`."""


@dataclass(frozen=True, slots=True)
class StreamFairness:
    """What the other streams do to one; None where it completed nothing."""

    name: str
    together_ps: float | None
    """Its mean latency beside the others."""
    alone_ps: float | None
    """Its mean latency on the same drive without them."""
    slowdown: float | None
    """The first over the second."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """How evenly streams slow one another down."""

    streams: tuple[StreamFairness, ...]
    slowdown_max: float | None
    fairness: float | None
    """The least slowdown over the largest: 1 when all streams suffer alike."""
    unfairness: float | None
    """The largest slowdown over the least."""
