"""Figures of the reads, writes and flushes of a stream, of a result as an object or as its JSON document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.results import MeasuredStream, StreamResult

KINDS = ("read", "write", "flush")
"""Kinds of requests whose latencies a stream has beside those of all its requests."""


@dataclass(frozen=True, slots=True)
class OfKind:
    """Requests of one kind of a stream."""

    kind: str
    iops: float
    latency: Mapping[str, Any]
    """Statistics of the latency in picoseconds, and the number of requests as `count`."""

    def latencies(self, statistics: Sequence[str]) -> tuple[str, ...]:
        """Returns statistics of the latency as texts."""
        return tuple(q.time(self.latency[name]) for name in statistics)


def kinds_of(stream: Mapping[str, Any]) -> list[OfKind]:
    """Returns the figures of a stream by kind of request, for an entry of `streams` in a document.

    The IOPS of a kind are the share of its requests in the IOPS of the stream.
    """
    latencies = stream["latency_ps"]
    together = latencies["all"]
    found = [(kind, latencies[kind]) for kind in KINDS if latencies[kind] is not None]
    return [OfKind(kind, stream["iops"] * each["count"] / together["count"], each) for kind, each in found]


def mixed_kinds(stream: MeasuredStream | StreamResult) -> list[OfKind]:
    """Returns the figures of a stream by kind of request; empty if all its requests are of one kind."""
    found = kinds_of({"iops": stream.iops, "latency_ps": asdict(stream.latency_ps)})
    return found if len(found) > 1 else []
