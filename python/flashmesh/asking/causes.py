"""Causes of effects: the part of the mean latency that a change moves most, and the requests inside the drive."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashmesh.report import quantities as q
from flashmesh.report.summary import PARTS
from flashmesh.results.window import windowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOST = "host"
"""The part of the mean latency outside the drive: in the host's queue, and on the host link in both directions."""
PS_PER_S = 1e12
SMALL = 0.005
"""Smallest change of a latency part that counts as a cause, as a share of the mean latency of the unchanged drive."""


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


def parts_of(document: Mapping[str, Any]) -> dict[str, float]:
    """Returns the parts of the mean latency in the measured window; empty if no request completed."""
    mean = windowed(document)["breakdown_ps"]["mean"]
    return {} if mean is None else {part: float(mean[part]) for part in PARTS}


def cause_of(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Cause | None:
    """Returns the latency part that changes most, in the direction of the mean latency; None for a negligible change.

    Args:
        pairs: Pairs of results without and with the change.
    """
    found = [(parts_of(before), parts_of(after)) for before, after in pairs]
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
