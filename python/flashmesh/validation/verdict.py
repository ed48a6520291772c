"""Whether what is simulated is near enough to what was measured: a verdict for each tolerance and load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashmesh.validation.figures import Figures
    from flashmesh.validation.measurements import Measurements

AT_SATURATION = 0.97
"""From this share of the measured saturation rate on, a load is at saturation."""
LIGHT = 0.8
"""Below this share of it the mean of writes has a tolerance."""


@dataclass(frozen=True)
class Tolerance:
    """How near is near enough."""

    name: str
    says: str
    columns: tuple[str, ...]
    """The figures it holds for; none for the saturation rate, which is a figure of the drive."""
    share: float
    """The largest difference, as a share of what was measured."""
    load_min: float = 0.0
    """From this share of the saturation rate on, it holds."""
    load_max: float = float("inf")
    """Below this one."""

    def holds_at(self, load: float) -> bool:
        """Whether it holds at a load, as a share of the saturation rate."""
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
"""Of the figures at a load."""


@dataclass(frozen=True)
class Check:
    """A tolerance, held to one figure."""

    tolerance: str
    """Its name."""
    figure: str
    offered_iops: float | None
    """The load; None for the saturation rate."""
    measured: float
    simulated: float | None
    """None where nothing was simulated."""
    limit: float
    """The largest difference, as a share of what was measured."""

    @property
    def difference(self) -> float | None:
        """What is simulated less what was measured, as a share of the latter."""
        return None if self.simulated is None else self.simulated / self.measured - 1.0

    @property
    def is_met(self) -> bool:
        """Whether it is within the tolerance; what was not simulated is not."""
        difference = self.difference
        # Of two decimal fractions such as 110 and 100 the difference is not exact.
        return difference is not None and abs(difference) <= self.limit + 1e-12


def checks(measurements: Measurements, simulated: Sequence[Figures | None]) -> tuple[Check, ...]:
    """All tolerances, held to all figures.

    Args:
        measurements: What was measured.
        simulated: What is simulated at each of its loads.
    """
    return tuple(all_checks(measurements, simulated))


def all_checks(measurements: Measurements, simulated: Sequence[Figures | None]) -> Iterator[Check]:
    """See `checks`."""
    saturation = measurements.saturation_iops
    if saturation is not None:
        yield Check("saturation", "iops", None, saturation, most_served(simulated), SATURATION.share)
    for tolerance in TOLERANCES:
        for point, found in zip(measurements.points, simulated, strict=True):
            # Where nothing saturated the drive, all loads are light.
            load = 0.0 if saturation is None else point.asked_iops / saturation
            if not tolerance.holds_at(load):
                continue
            for column in tolerance.columns:
                measured = point.figures.value(column)
                if measured is not None:
                    value = None if found is None else found.value(column)
                    yield Check(tolerance.name, column, point.offered_iops, measured, value, tolerance.share)


def most_served(simulated: Sequence[Figures | None]) -> float | None:
    """The most requests a second that were served; None when no load was simulated."""
    return max((found.iops for found in simulated if found is not None), default=None)
