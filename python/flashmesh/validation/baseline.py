"""A curve through the loads that a drive was fitted to: what the measurements say of other loads by themselves.

A simulation is worth its effort where it predicts loads better than such a curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES
from flashmesh.validation.measurements import FIT
from flashmesh.validation.verdict import AT_SATURATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.validation.measurements import Measured, Measurements

Curves = dict[tuple[float, str], float]
"""Figures of the curve by load and column."""
CURVE_SENTENCE = (
    "The curve runs through the fitted loads: between two of them a latency is linear in r / (1 - r), where r is the "
    "load as a share of the saturation rate; at saturation it is that of the nearest fitted load."
)
"""Description of the curve, for pages."""


def curves(measurements: Measurements, roles: Sequence[str]) -> Curves:
    """Returns the latencies of the curve at the loads to which a drive was not fitted.

    Args:
        measurements: The measurements.
        roles: The role of each load. With an empty role the load has a curve through all other loads.
    """
    fitted = [point for point, role in zip(measurements.points, roles, strict=True) if role == FIT]
    found: Curves = {}
    for point, role in zip(measurements.points, roles, strict=True):
        if role == FIT:
            continue
        known = fitted if role else [other for other in measurements.points if other is not point]
        for column in LATENCIES:
            value = predicted(known, point.asked_iops, column, measurements.saturation_iops)
            if value is not None and value > 0.0:
                found[point.offered_iops, column] = value
    return found


def predicted(known: Iterable[Measured], asked_iops: float, column: str, saturation_iops: float | None) -> float | None:
    """Returns the figure of a curve at a load; None if no load of its kind, below or at saturation, is known.

    Args:
        known: The loads of the curve.
        asked_iops: The load.
        column: The figure.
        saturation_iops: The maximum rate that the drive served; None if no load saturated it.
    """
    saturation = float("inf") if saturation_iops is None else saturation_iops
    values = [(each.asked_iops, value) for each in known if (value := each.figures.value(column))]
    if asked_iops >= AT_SATURATION * saturation:
        saturated = [(asked, value) for asked, value in values if asked >= AT_SATURATION * saturation]
        return min(saturated, key=lambda each: abs(each[0] - asked_iops))[1] if saturated else None
    below = sorted(
        (queueing(asked, saturation), value) for asked, value in values if asked < AT_SATURATION * saturation
    )
    return interpolated(below, queueing(asked_iops, saturation)) if below else None


def queueing(asked_iops: float, saturation: float) -> float:
    """Returns r / (1 - r) of a load r below saturation, with which queues grow; without a saturation, the load."""
    share = asked_iops / saturation
    return share / (1.0 - share) if share else asked_iops


def interpolated(line: Sequence[tuple[float, float]], at: float) -> float:
    """Returns the value of a line of segments, whose first and last segment go on beyond its ends."""
    if len(line) == 1:
        return line[0][1]
    end = next((number for number in range(1, len(line) - 1) if line[number][0] >= at), len(line) - 1)
    (x_low, low), (x_high, high) = line[end - 1], line[end]
    return low + (high - low) * (at - x_low) / (x_high - x_low)
