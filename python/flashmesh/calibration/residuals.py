"""Residuals: logarithms of the ratio of simulated to measured figures, in units of the tolerance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES, Figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.calibration.points import Target

TOLERANCES: Mapping[str, float] = {"iops": 0.05, "mean": 0.10, "p50": 0.15, "p99": 0.15, "p999": 0.50}
"""Tolerance by the suffix of a figure's name, as for `flashmesh validate`, but wider in the tail."""
SATURATED = 2.5
"""Factor on the tolerances of latencies if the drive is saturated."""
FAILED = 50.0
"""Residual of a figure that the simulation does not have."""
FARTHEST = 50.0
SERVED = "iops"


def figures_held(target: Target) -> list[str]:
    """Returns the names of the compared figures of a load: the measured latencies, and the total rate."""
    return [SERVED, *(column for column in LATENCIES if target.measured.value(column) is not None)]


def value(figures: Figures, figure: str) -> float | None:
    """Returns a figure by its name, or the total rate for `iops`."""
    return figures.iops if figure == SERVED else figures.value(figure)


def tolerance(target: Target, figure: str) -> float:
    """Returns the tolerance of a figure at a load."""
    if figure == SERVED:
        return TOLERANCES[SERVED]
    statistic = figure.removesuffix("_us").rpartition("_")[2]
    return TOLERANCES[statistic] * (SATURATED if target.is_saturated else 1.0)


def residuals(target: Target, found: Figures | None) -> list[float]:
    """Returns the residual of each compared figure of a load.

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
    """Returns the loss: quadratic in small residuals, linear in large ones, so that no single figure dominates."""
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
