"""Residuals: the distance of each simulated figure from the measured one, in units of its tolerance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES, Figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.calibration.points import Target

TOLERANCES: Mapping[str, float] = {"iops": 0.05, "mean": 0.10, "p50": 0.15, "p99": 0.15, "p999": 0.50}
"""Tolerances by the suffix of a figure's name: those of `flashmesh validate`, and wider ones in the tail."""
SATURATED = 2.5
"""Factor on the tolerances of latencies if the drive is saturated."""
FAILED = 50.0
"""Distance of a figure that a drive lacks."""
FARTHEST = 50.0
SERVED = "iops"


def figures_held(target: Target) -> list[str]:
    """Returns the figures of a load that are compared: the measured latencies, and the total rate."""
    return [SERVED, *(column for column in LATENCIES if target.measured.value(column) is not None)]


def value(figures: Figures, figure: str) -> float | None:
    """Returns a figure, or the total rate."""
    return figures.iops if figure == SERVED else figures.value(figure)


def tolerance(target: Target, figure: str) -> float:
    """Returns the tolerance of a figure at a load."""
    if figure == SERVED:
        return TOLERANCES[SERVED]
    statistic = figure.removesuffix("_us").rpartition("_")[2]
    return TOLERANCES[statistic] * (SATURATED if target.is_saturated else 1.0)


def residuals(target: Target, found: Figures | None) -> list[float]:
    """Returns the distance of each compared figure of a load.

    Args:
        target: The load.
        found: The simulated figures; None if the drive is invalid.
    """
    listed: list[float] = []
    for figure in figures_held(target):
        measured = value(target.measured, figure)
        simulated = None if found is None else value(found, figure)
        if not measured or not simulated or simulated <= 0:
            listed.append(FAILED)
            continue
        distance = math.log(simulated / measured) / tolerance(target, figure)
        listed.append(max(-FARTHEST, min(FARTHEST, distance)))
    return listed


def loss(rows: Sequence[Sequence[float]]) -> float:
    """Returns the loss of a drive: quadratic near the measurements, linear far away, so that no figure dominates."""
    softened = [2.0 * (math.sqrt(1.0 + each * each) - 1.0) for row in rows for each in row]
    return sum(softened) / len(softened)


def error(target: Target, found: Figures) -> float:
    """Returns the mean relative error of the figures of a load."""
    ratios = [
        abs(simulated / measured - 1.0)
        for figure in figures_held(target)
        if (measured := value(target.measured, figure)) and (simulated := value(found, figure)) is not None
    ]
    return sum(ratios) / len(ratios)
