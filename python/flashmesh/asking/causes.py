"""Causes of effects: the part of the mean latency that a change moves most, and the requests inside the drive."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.report.summary import PARTS
from flashmesh.results.streams import STREAMS, entry, window_streams
from flashmesh.results.window import windowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.report.measures.measure import Measure

ALL = ""
"""Stands for all requests of a run, where other texts are names of streams."""

HOST = "host"
"""The part of the mean latency outside the drive: in the host's queue, and on the host link in both directions."""
PS_PER_S = 1e12
SMALL = 0.005
"""Smallest change of a latency part that counts as a cause, as a share of the mean latency of the unchanged drive."""

WINDOW_MAX = 0.02
"""Largest difference, as a share, between the mean latencies of a stream in the measured window and in the whole run
with which the latency parts of the run stand for those of the window."""


@dataclass(frozen=True)
class Cause:
    """The part of the mean latency that a change moves most, in the same direction as the mean."""

    part: str
    """Name of the latency part: a key under `breakdown_ps` in results."""
    change_ps: float

    @property
    def text(self) -> str:
        """The cause as text: `waiting for the die -58.1 us`."""
        sign = "+" if self.change_ps > 0 else "-"
        return f"{PARTS[self.part]} {sign}{q.time(abs(self.change_ps))}"


def subject_of(measures: Iterable[Measure]) -> str | None:
    """Returns the stream that all measures describe, or `ALL`; None if the measures describe different requests."""
    found = {measure.stream or ALL for measure in measures}
    return found.pop() if len(found) == 1 else None


def has_own_parts(document: Mapping[str, Any], stream: str) -> bool:
    """Returns whether the parts of the latency of `stream` differ from those of the run, which has other streams."""
    return stream != ALL and len(document[STREAMS]) > 1


def parts_of(document: Mapping[str, Any], stream: str = ALL) -> dict[str, float]:
    """Returns the parts of the mean latency of a stream, or of all requests; empty if no request completed.

    The parts are those of the measured window. Results have the parts of one of several streams only for the whole run;
    these stand for the window if both have the same mean latency up to `WINDOW_MAX`, else the parts are empty.
    """
    if not has_own_parts(document, stream):
        mean = windowed(document)["breakdown_ps"]["mean"]
    else:
        mean = entry(document[STREAMS], stream)["breakdown_ps"]["mean"]
        inside_window = entry(window_streams(document), stream)
        latency = None if inside_window is None else inside_window["latency_ps"]["all"]
        if mean is None or latency is None:
            return {}
        if abs(sum(mean[part] for part in PARTS) - latency["mean"]) > WINDOW_MAX * latency["mean"]:
            return {}
    return {} if mean is None else {part: float(mean[part]) for part in PARTS}


def cause_of(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], stream: str | None = ALL) -> Cause | None:
    """Returns the latency part that changes most, in the direction of the mean latency; None for a negligible change.

    Args:
        pairs: Pairs of results without and with the change.
        stream: The stream whose latency is compared, or `ALL`; there is no cause for None.
    """
    if stream is None:
        return None
    found = [(parts_of(before, stream), parts_of(after, stream)) for before, after in pairs]
    found = [(before, after) for before, after in found if before and after]
    if not found:
        return None
    changes = {part: fmean(after[part] - before[part] for before, after in found) for part in PARTS}
    sign = 1.0 if sum(changes.values()) >= 0 else -1.0
    part = max(changes, key=lambda each: sign * changes[each])
    latency = fmean(sum(before.values()) for before, _ in found)
    return Cause(part, changes[part]) if sign * changes[part] >= SMALL * latency > 0 else None


def inside(document: Mapping[str, Any]) -> float | None:
    """Returns the mean number of requests inside the drive, by Little's law; None if no request completed."""
    parts = [time for part, time in parts_of(document).items() if part != HOST]
    return float(windowed(document)["iops"]) * sum(parts) / PS_PER_S if parts else None
