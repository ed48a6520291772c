"""Residuals: log(simulated / measured) of each figure, divided by the tolerance of the figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.validation.figures import LATENCIES, Figures
from flashmesh.validation.tables.sheets import BANDWIDTHS, LATENCY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.validation.tables.sheets import SheetRow

TOLERANCES: Mapping[str, float] = {"iops": 0.05, "mean": 0.10, "p50": 0.15, "p99": 0.15, "p999": 0.50}
"""Relative tolerance by statistic: as in `flashmesh validate`, and wider for p99.9."""
SATURATED = 2.5
"""Factor on the tolerances of latencies for a load that saturates the drive."""
FAILED = 50.0
"""Residual of a figure that was not simulated, or is 0 in the simulation."""
FARTHEST = 50.0
"""Maximum absolute residual."""
SERVED = "iops"


@dataclass(frozen=True)
class Held:
    """A measured figure to fit, with its tolerance."""

    figure: str
    """Name of a latency, such as `read_mean_us`, or `iops` for the total rate."""
    measured: float
    tolerance: float
    """Tolerance of the relative difference: the residual is log(simulated / measured) divided by this number."""

    def residual(self, found: Figures | None) -> float:
        """Returns the residual of the figure in simulated figures; `FAILED` if the figure is missing there, or 0."""
        simulated = None if found is None else value(found, self.figure)
        if simulated is None or simulated <= 0:
            return FAILED
        distance = math.log(simulated / self.measured) / self.tolerance
        return max(-FARTHEST, min(FARTHEST, distance))


def held_figures(measured: Figures, is_saturated: bool) -> tuple[Held, ...]:
    """Returns the figures to fit of a measured load: the total rate and the measured latencies."""
    factor = SATURATED if is_saturated else 1.0
    latencies = [
        Held(column, known, tolerance_of(column) * factor) for column in LATENCIES if (known := measured.value(column))
    ]
    rate = [Held(SERVED, measured.iops, TOLERANCES[SERVED])] if measured.iops else []
    return (*rate, *latencies)


def tolerance_of(figure: str) -> float:
    """Returns the tolerance of a figure below saturation."""
    return TOLERANCES[figure.removesuffix("_us").rpartition("_")[2]]


def held_rows(rows: Iterable[SheetRow]) -> tuple[Held, ...]:
    """Returns the figures to fit of data-sheet rows that share a load."""
    return tuple(held_row(row) for row in rows)


def held_row(row: SheetRow) -> Held:
    """Returns the figure to fit of a data-sheet row. A bandwidth becomes a request rate."""
    if row.unit == LATENCY:
        kind = "read" if row.load.read_share == 1.0 else "write"
        return Held(f"{kind}_{row.statistic}_us", row.value, TOLERANCES[row.statistic])
    rate = row.value * BANDWIDTHS.get(row.unit, row.load.request_bytes) / row.load.request_bytes
    return Held(SERVED, rate, TOLERANCES[SERVED])


def value(figures: Figures, figure: str) -> float | None:
    """Returns a figure by its name; `iops` is the total rate. None for a latency that was not measured or simulated."""
    return figures.iops if figure == SERVED else figures.value(figure)


def residuals(held: Iterable[Held], found: Figures | None) -> list[float]:
    """Returns the residual of each figure to fit.

    Args:
        held: The figures to fit.
        found: The simulated figures; None if there are none.
    """
    return [each.residual(found) for each in held]


def loss(rows: Sequence[Sequence[float]]) -> float:
    """Returns the mean soft-L1 loss: quadratic in small residuals, linear in large ones, which thus do not dominate."""
    softened = [2.0 * (math.sqrt(1.0 + each * each) - 1.0) for row in rows for each in row]
    return sum(softened) / len(softened)


def error(held: Iterable[Held], found: Figures) -> float:
    """Returns the mean absolute relative error of those figures of `held` that `found` has; there must be one."""
    ratios = [
        abs(simulated / each.measured - 1.0) for each in held if (simulated := value(found, each.figure)) is not None
    ]
    return sum(ratios) / len(ratios)
