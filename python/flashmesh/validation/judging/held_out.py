"""Mean errors of the simulation and of the baseline curve, at held-out loads below saturation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.validation.judging.verdict import AT_SATURATION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashmesh.validation.judging.outcome import Validation

COLUMNS = {"read_mean_us": "mean of reads", "read_p99_us": "p99 of reads", "write_mean_us": "mean of writes"}
"""Compared figures, with their names in reports."""


@dataclass(frozen=True)
class Compared:
    """Mean absolute relative errors of a figure over `loads` loads: of the simulation and of the baseline curve."""

    column: str
    loads: int
    simulated: float
    curve: float


def compared(validations: Iterable[Validation], column: str) -> Compared | None:
    """Returns the mean errors of a figure over all drives; None if no load has both errors."""
    errors: list[tuple[float, float]] = []
    for validation in validations:
        saturation = validation.measurements.saturation_iops or float("inf")
        found = validation.curves
        for point in validation.points:
            measured, curve = point.measured.figures.value(column), found.get((point.measured.offered_iops, column))
            simulated = None if point.simulated is None else point.simulated.value(column)
            is_below = point.measured.asked_iops < AT_SATURATION * saturation
            if measured and curve is not None and simulated is not None and is_below:
                errors.append((abs(simulated / measured - 1.0), abs(curve / measured - 1.0)))
    if not errors:
        return None
    ours, theirs = zip(*errors, strict=True)
    return Compared(column, len(errors), sum(ours) / len(errors), sum(theirs) / len(errors))


def all_compared(validations: Iterable[Validation]) -> list[Compared]:
    """Returns the errors of each figure in `COLUMNS`, as means over the loads of all drives.

    Leaves out figures for which no load has an error of both the simulation and the baseline curve.
    """
    listed = list(validations)
    return [found for column in COLUMNS if (found := compared(listed, column)) is not None]
