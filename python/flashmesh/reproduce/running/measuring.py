"""Measured numbers: values of runs, normalised to a baseline and reduced over workloads, for each seed."""

from __future__ import annotations

from statistics import fmean, geometric_mean, median
from typing import TYPE_CHECKING

from flashmesh.reproduce.points import point, workloads_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.reproduce.judging.verdict import Curve
    from flashmesh.reproduce.points import Need, Point
    from flashmesh.reproduce.registry.paper import Labels, Measurement, Paper

REDUCERS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "geometric-mean": geometric_mean,
    "median": median,
    "max": max,
    "min": min,
    "sum": sum,
}
COMPUTERS: dict[str, Callable[[float, float], float]] = {
    "ratio": lambda subject, baseline: subject / baseline,
    "speedup": lambda subject, baseline: baseline / subject,
    "reduction": lambda subject, baseline: 100.0 * (1.0 - subject / baseline),
    "increase": lambda subject, baseline: 100.0 * (subject / baseline - 1.0),
}


class Measures:
    """Numbers measured for the claims of a paper, from the values of the runs in one mode (`quick` or `full`)."""

    def __init__(self, paper: Paper, mode: str, values: Mapping[tuple[Point, str], float | None]) -> None:
        """Stores a value for each run and measure (such as a mean latency); None for a run without a value."""
        self.paper = paper
        self.mode = mode
        self.values = values

    def curve(self, need: Need) -> Curve | None:
        """Returns the values of a measurement along an axis, a tuple for each seed; None if a value is missing."""
        found = [self.by_seed(need.measurement, need.regime, subject) for subject in need.subjects()]
        known = [values for values in found if values is not None]
        return tuple(zip(*known, strict=True)) if len(known) == len(found) else None

    def by_seed(self, measurement: Measurement, regime: str, subject: Labels) -> tuple[float, ...] | None:
        """Returns the measured number of each seed, reduced (as by a mean) over workloads; None if a workload has none.

        `subject` has the labels of the measured runs.
        """
        job = self.paper.jobs[measurement.job]
        extent = job.extent(self.mode, regime)
        numbers: list[float] = []
        for seed in extent.seeds:
            parts = [
                self.counted(measurement, regime, subject, each, seed)
                for each in self.workloads(measurement, regime, subject)
            ]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts) or not known:
                return None
            numbers.append(REDUCERS[measurement.reduce](known))
        return tuple(numbers)

    def by_workload(self, measurement: Measurement, regime: str) -> dict[str, float]:
        """Returns the mean over seeds of the number of each workload; empty for fewer than two workloads."""
        workloads = self.workloads(measurement, regime, measurement.of)
        if len(workloads) < 2:
            return {}
        found: dict[str, float] = {}
        for workload in workloads:
            seeds = self.paper.jobs[measurement.job].extent(self.mode, regime).seeds
            values = [self.one(measurement, regime, measurement.of, workload, seed) for seed in seeds]
            known = [value for value in values if value is not None]
            if known:
                found[workload] = fmean(known)
        return found

    def workloads(self, measurement: Measurement, regime: str, labels: Labels) -> tuple[str, ...]:
        """Returns the workloads over which a measurement is reduced."""
        return workloads_of(self.paper.jobs[measurement.job], self.mode, regime, labels)

    def counted(self, measurement: Measurement, regime: str, subject: Labels, workload: str, seed: int) -> float | None:
        """Returns the number of one workload and seed; with a threshold `above`, 1 if the number exceeds it, else 0.

        None if a run has no value.
        """
        number = self.one(measurement, regime, subject, workload, seed)
        return number if number is None or measurement.above is None else float(number > measurement.above)

    def one(self, measurement: Measurement, regime: str, subject: Labels, workload: str, seed: int) -> float | None:
        """Returns the number of one workload and seed, normalised to its baseline; None if a run has no value."""

        def value(labels: Labels) -> float | None:
            run = point(self.paper, self.paper.jobs[measurement.job], regime, labels, workload, seed)
            return self.values.get((run, self.paper.measured(measurement, regime).text))

        own = value(subject)
        if own is None or measurement.compute == "value":
            return own
        if measurement.compute == "best":
            axis = self.paper.jobs[measurement.job].axes[0]
            others = [value(subject | {axis: label}) for label in measurement.against]
            known = [other for other in others if other is not None]
            return float(own <= min(known)) if len(known) == len(others) else None
        baseline = value(subject | measurement.over)
        try:
            return None if baseline is None else COMPUTERS[measurement.compute](own, baseline)
        except ZeroDivisionError:
            return None
