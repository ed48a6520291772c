"""How far a drive is from what was measured: a number for each load and figure, in units of its tolerance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES, Figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.calibration.points import Target

TOLERANCES: Mapping[str, float] = {"iops": 0.05, "mean": 0.10, "p50": 0.15, "p99": 0.15, "p999": 0.50}
"""What counts as near, by the end of the name of a figure: as `flashmesh validate` has it, and wider further out."""
SATURATED = 2.5
"""By what the tolerances of latencies are multiplied where the drive is saturated."""
FAILED = 50.0
"""The distance of a figure that a drive does not have."""
FARTHEST = 50.0
SERVED = "iops"


def figures_held(target: Target) -> list[str]:
    """The figures of a load that a drive is held to: latencies that were measured, and all requests a second."""
    return [SERVED, *(column for column in LATENCIES if target.measured.value(column) is not None)]


def value(figures: Figures, figure: str) -> float | None:
    """A figure, or all requests a second."""
    return figures.iops if figure == SERVED else figures.value(figure)


def tolerance(target: Target, figure: str) -> float:
    """What counts as near of a figure at a load."""
    if figure == SERVED:
        return TOLERANCES[SERVED]
    statistic = figure.removesuffix("_us").rpartition("_")[2]
    return TOLERANCES[statistic] * (SATURATED if target.is_saturated else 1.0)


def residuals(target: Target, found: Figures | None) -> list[float]:
    """The distance of each figure of a load that a drive is held to.

    Args:
        target: The load.
        found: What is simulated at it; None where there can be no such drive.
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
    """How far a drive is from all loads: squares near by, and linear far away, so that one figure does not decide."""
    softened = [2.0 * (math.sqrt(1.0 + each * each) - 1.0) for row in rows for each in row]
    return sum(softened) / len(softened)


def error(target: Target, found: Figures) -> float:
    """The mean distance of the figures of a load, as a share of what was measured."""
    ratios = [
        abs(simulated / measured - 1.0)
        for figure in figures_held(target)
        if (measured := value(target.measured, figure)) and (simulated := value(found, figure)) is not None
    ]
    return sum(ratios) / len(ratios)
