"""How long requests took, and where that went."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """Completion latency, in picoseconds."""

    count: int
    """How many requests these are."""
    mean: float
    p50: int
    """The median; percentiles come from a histogram with a bounded relative error."""
    p95: int
    p99: int
    p99_9: int
    p99_99: int
    max: int


@dataclass(frozen=True, slots=True)
class LatencyByKind:
    """Completion latency of all requests, of reads, of writes and of flushes; None where there were none."""

    all: Latency | None
    read: Latency | None
    write: Latency | None
    flush: Latency | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where the latency of a request goes, in picoseconds; the parts add up to the whole."""

    count: int
    """How many requests these are the mean of."""
    host: float
    """In the queue of the host and on its link."""
    cache: float
    """In the device cache: the DRAM at work or busy, and waiting for room in it."""
    map_wait: float
    """Waiting for an entry of the map."""
    die_wait: float
    """Waiting for the die while it works for other requests."""
    path_wait: float
    """Waiting for a path to the chip, die and data being ready."""
    array: float
    """The array at work: read, program, suspension."""
    transfer: float
    """Command, address and data on the path."""
    behind_gc: float
    """Waiting for the die while it works for garbage collection or wear levelling."""


@dataclass(frozen=True, slots=True)
class BreakdownByPart:
    """The breakdown of the mean latency, and of the mean over the slowest requests."""

    mean: Breakdown | None
    tail: Breakdown | None
