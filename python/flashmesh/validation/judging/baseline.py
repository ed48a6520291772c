"""Baseline of a validation: a curve through the measured latencies of the loads to which a drive was fitted.

A simulation is useful if it predicts the other loads better than this curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES
from flashmesh.validation.judging.verdict import AT_SATURATION
from flashmesh.validation.tables.measurements import FIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.validation.tables.measurements import Measured, Measurements

Curves = dict[tuple[float, str], float]
"""Latencies of the curve in microseconds, by offered load in IOPS and name of the latency."""
CURVE_SENTENCE = (
    "The curve runs through the measured latencies of the fitted loads. Below saturation it is piecewise linear in "
    "r / (1 - r), where r is the load as a share of the saturation rate. "
    "At saturation it has the latency of the nearest fitted load."
)
"""Sentences on a page that describe how the curve is computed."""


def curves(measurements: Measurements, roles: Sequence[str]) -> Curves:
    """Returns the latencies of the curve at the loads to which the drive was not fitted, where the curve has a value.

    Args:
        measurements: The measurements.
        roles: The role of each load, as in `PointOutcome.role`. For a load with an empty role, the curve runs through
            all other loads.
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
    """Returns a latency of the curve at a load, in microseconds; None if no known load is on its side of saturation.

    Args:
        known: The loads through which the curve runs.
        asked_iops: The requested rate of the load.
        column: The name of the latency.
        saturation_iops: The maximum rate that the drive served; None if no load saturated the drive.
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
    """Returns r / (1 - r), the growth of queues at utilization r; the rate itself if saturation is infinite."""
    share = asked_iops / saturation
    return share / (1.0 - share) if share else asked_iops


def interpolated(line: Sequence[tuple[float, float]], at: float) -> float:
    """Returns the value at `at` of a piecewise linear function through the points `line`, extrapolated beyond its ends.

    The points (x, y) are in ascending order of x.
    """
    if len(line) == 1:
        return line[0][1]
    end = next((number for number in range(1, len(line) - 1) if line[number][0] >= at), len(line) - 1)
    (x_low, low), (x_high, high) = line[end - 1], line[end]
    return low + (high - low) * (at - x_low) / (x_high - x_low)
