"""Tolerances, and checks of simulated figures against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flashmesh.validation.figures import Figures
    from flashmesh.validation.tables.measurements import Measurements
    from flashmesh.validation.tables.sheets import SheetRow

AT_SATURATION = 0.97
"""Minimum rate of a load that counts as at saturation, as a share of the measured saturation rate."""
LIGHT = 0.8
"""Load below which the mean latency of writes has a tolerance, as a share of the saturation rate."""


@dataclass(frozen=True)
class Tolerance:
    """A tolerance of some figures, within a range of loads."""

    name: str
    says: str
    columns: tuple[str, ...]
    """Names of the figures; empty for the saturation rate and for figures of single loads (rows)."""
    share: float
    """Maximum difference, as a share of the measured figure."""
    load_min: float = 0.0
    """Lower end of the range of loads (included), as a share of the saturation rate."""
    load_max: float = float("inf")
    """Upper end of the range of loads (excluded), as a share of the saturation rate."""

    def holds_at(self, load: float) -> bool:
        """Returns whether the tolerance applies to a load, given as a share of the saturation rate."""
        return self.load_min <= load < self.load_max


SATURATION = Tolerance("saturation", "saturation rate within 5 %", (), 0.05)
TOLERANCES = (
    Tolerance("read-mean", "mean of reads within 10 % below saturation", ("read_mean_us",), 0.10, 0.0, AT_SATURATION),
    Tolerance("read-p99", "p99 of reads within 15 % below saturation", ("read_p99_us",), 0.15, 0.0, AT_SATURATION),
    Tolerance("write-mean", "mean of writes within 10 % below 0.8 of saturation", ("write_mean_us",), 0.10, 0.0, LIGHT),
    Tolerance(
        "at-saturation",
        "means of reads and of writes within 25 % at saturation",
        ("read_mean_us", "write_mean_us"),
        0.25,
        AT_SATURATION,
    ),
)
"""Tolerances of latencies at measured loads."""
DATA_SHEET = Tolerance("data-sheet", "each figure of the data sheet within 15 %", (), 0.15)
SWEEPS = (
    Tolerance("depth", "rates, means and medians of the sweep of depths within 10 %", (), 0.10),
    Tolerance("depth-p99", "p99 of the sweep of depths within 15 %", (), 0.15),
    Tolerance("block-size", "rates, means and medians of the sweep of block sizes within 10 %", (), 0.10),
    Tolerance("block-size-p99", "p99 of the sweep of block sizes within 15 %", (), 0.15),
    Tolerance("mix", "rates and latencies of mixes within 25 %", (), 0.25),
    Tolerance("skew", "rates of writes to hot pages within 20 %", (), 0.20),
)
"""Tolerances of rows of sweeps, mixes and hot pages. `SheetRow.tolerance_name` selects one."""
OF_ROWS = {tolerance.name: tolerance for tolerance in (DATA_SHEET, *SWEEPS)}
"""Tolerances of rows, by name."""
ALL_TOLERANCES = (SATURATION, *TOLERANCES, DATA_SHEET, *SWEEPS)
MEASURED = "measured"
"""Default of `Check.reference`: the figure was measured on the real drive, not taken from its data sheet."""


@dataclass(frozen=True)
class Check:
    """Check of a simulated figure against the measured one."""

    tolerance: str
    """Name of the tolerance."""
    figure: str
    offered_iops: float | None
    """Offered load; None for the saturation rate and for figures of single loads (rows)."""
    measured: float
    simulated: float | None
    """Simulated figure; None if its run failed or has no such latency."""
    limit: float
    """Maximum relative difference."""
    reference: str = MEASURED
    """Origin of the measured figure."""

    @property
    def name(self) -> str:
        """Name of the figure for reports."""
        return self.figure.removesuffix("_us").replace("_", " ")

    @property
    def difference(self) -> float | None:
        """Relative difference of the simulated from the measured figure."""
        return None if self.simulated is None else self.simulated / self.measured - 1.0

    @property
    def is_met(self) -> bool:
        """Whether the figure is within the tolerance; False if it was not simulated."""
        difference = self.difference
        # Allows for rounding: 1.10 / 1.00 - 1 exceeds 0.10 in binary.
        return difference is not None and abs(difference) <= self.limit + 1e-12


def checks(measurements: Measurements, simulated: Sequence[Figures | None]) -> tuple[Check, ...]:
    """Returns the checks of all measured loads.

    Args:
        measurements: The measurements.
        simulated: The simulated figures of each measured load; None for a failed run.
    """
    return tuple(all_checks(measurements, simulated))


def all_checks(measurements: Measurements, simulated: Sequence[Figures | None]) -> Iterator[Check]:
    """Yields the check of the saturation rate if the drive was saturated, then the checks of each tolerance by load."""
    saturation = measurements.saturation_iops
    if saturation is not None:
        yield Check("saturation", "iops", None, saturation, most_served(simulated), SATURATION.share)
    for tolerance in TOLERANCES:
        for point, found in zip(measurements.points, simulated, strict=True):
            # If no load saturated the drive, every load counts as light.
            load = 0.0 if saturation is None else point.asked_iops / saturation
            if not tolerance.holds_at(load):
                continue
            for column in tolerance.columns:
                measured = point.figures.value(column)
                if measured is not None:
                    value = None if found is None else found.value(column)
                    yield Check(tolerance.name, column, point.offered_iops, measured, value, tolerance.share)


def row_check(row: SheetRow, simulated: float | None) -> Check:
    """Returns the check of a row (figure of a single load) against its tolerance."""
    figure = f"{row.what}, {row.unit}"
    tolerance = OF_ROWS[row.tolerance_name]
    return Check(tolerance.name, figure, None, row.value, simulated, tolerance.share, row.reference)


def mean_difference(checks: Iterable[Check]) -> float | None:
    """Returns the mean absolute relative difference of the simulated figures; None if no figure was simulated."""
    found = [abs(difference) for check in checks if (difference := check.difference) is not None]
    return sum(found) / len(found) if found else None


def most_served(simulated: Sequence[Figures | None]) -> float | None:
    """Returns the maximum rate that the simulated drive served; None if no load was simulated."""
    return max((found.iops for found in simulated if found is not None), default=None)
