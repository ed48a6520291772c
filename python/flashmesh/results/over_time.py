"""The run in stretches: what came behind its warm-up, and its epochs."""

from __future__ import annotations

from dataclasses import dataclass

from flashmesh.results.drive import FlashOperations, GarbageCollection
from flashmesh.results.latency import LatencyByKind


@dataclass(frozen=True, slots=True)
class StretchUtilisation:
    """Shares of the time of a stretch, from 0 to 1, that resources were busy; means over all of a kind."""

    link_to_drive: float
    link_to_host: float
    links_mean: float
    dies_mean: float
    dies_gc_mean: float
    """With garbage collection and wear levelling."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a stretch of the run came to, such as an epoch; a request belongs to the one in which it completed."""

    start_ps: int
    end_ps: int
    requests: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind
    write_amplification: float | None
    gc: GarbageCollection
    flash: FlashOperations
    mapping_hit_share: float | None
    """Share of the entries wanted that the cache of the map had."""
    occupancy_mean: float
    """Commands in the queues of all streams, on average."""
    utilisation: StretchUtilisation


@dataclass(frozen=True, slots=True)
class Drift:
    """How much a measure changes over five rounds, as shares of its mean."""

    range: float
    """The largest less the least."""
    slope: float
    """What the straight line that fits best rises, or falls, from the first round to the last."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How much the measured window changes over five rounds, each a fifth of its requests."""

    iops: Drift
    latency: Drift


@dataclass(frozen=True, slots=True)
class MeasuredStream:
    """What one stream did behind the warm-up; its rates count up to its last completion."""

    name: str
    requests: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind


@dataclass(frozen=True, slots=True)
class Measured(Stretch):
    """What came behind the warm-up."""

    steady: bool | None
    """Whether throughput and latency of the rounds are steady as the SNIA has it; None after too few requests."""
    rounds: Rounds | None
    streams: tuple[MeasuredStream, ...]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """How the warm-up ended."""

    how: str
    """What was to end it, as `measure.warm-up` names it."""
    converged: bool
    """Whether it ended. Where the run itself was to tell and did not, the second half is measured nevertheless."""
    ended_ps: int | None
    requests: int
    """Requests that completed during it."""
    batch_requests: int | None
    """Requests in a batch, which the end is a multiple of, where the run itself told."""
