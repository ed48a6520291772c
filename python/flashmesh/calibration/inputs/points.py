"""Targets of a calibration: measured loads, each with the configuration that simulates it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh.calibration.residuals import Held, held_figures, held_rows
from flashmesh.calibration.space import configured
from flashmesh.validation.judging.verdict import AT_SATURATION
from flashmesh.validation.loads.workload import (
    WARM_UP_SHARE,
    Extent,
    capacity_bytes,
    closed_loop,
    picoseconds,
    settled,
    until_settled,
    with_load,
    with_row,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh._native import Config
    from flashmesh.importers.fio import FioJobs
    from flashmesh.validation.figures import Figures
    from flashmesh.validation.tables.measurements import Measured, Measurements
    from flashmesh.validation.tables.sheets import SheetLoad, SheetRow

MARGIN = 1.2
"""Margin on the number of requests of a stream. If the stream has a stop time, it ends at this time even on a simulated
drive somewhat faster than the measured one."""
COARSER = 4
"""Ratio of the requests of a full run to those of a short run."""
COARSE_MIN = 50_000
"""Minimum number of requests of a short run, unless the full run has fewer."""


@dataclass(frozen=True)
class Length:
    """Length of the runs of a calibration."""

    extent: Extent
    precision: str | None = None
    """Precision of the mean latency that ends a run early, such as `3%`; None to run all of `extent`."""

    @property
    def coarse(self) -> Length:
        """Length of short runs, for the first search and for slopes."""
        requests = max(self.extent.requests // COARSER, min(self.extent.requests, COARSE_MIN))
        return replace(self, extent=Extent(requests))


@dataclass(frozen=True)
class OpenLoad:
    """A load of a table of measurements: an open loop, with arrivals at the offered rate."""

    tables: Mapping[str, Any] = field(repr=False)
    """Configuration of the drive with the load, as tables."""
    is_saturated: bool
    """Whether the load saturated the measured drive."""

    def config(self, settings: Mapping[str, str], software_us: float) -> Config:
        """Returns the configuration of a drive with `settings` under the load.

        `software_us` has no effect: arrivals of an open loop do not depend on completions.
        """
        return configuration.load(self.tables, varied=dict(settings), keep="capacity", typed={})


@dataclass(frozen=True)
class ClosedLoad:
    """A load of a data sheet: a closed loop, with a constant number of outstanding requests."""

    tables: Mapping[str, Any] = field(repr=False)
    """Configuration of the drive, as tables."""
    load: SheetLoad
    extent: Extent

    def config(self, settings: Mapping[str, str], software_us: float) -> Config:
        """Returns the configuration of a drive with `settings` under the load. See `Target.config`."""
        loaded = with_row(self.tables, self.load, self.extent, software_us)
        return configuration.load(loaded, varied=dict(settings), keep="capacity", typed={})


@dataclass(frozen=True)
class JobLoad:
    """The jobs of a fio job file, as streams."""

    tables: Mapping[str, Any] = field(repr=False)
    """Configuration of the drive, as tables."""
    jobs: FioJobs = field(repr=False)

    @property
    def is_paced(self) -> bool:
        """Whether a job is an open loop: requests are due at a rate, and do not wait for completions."""
        return any(key.endswith("replay.mode") and mode == "open" for key, mode in self.jobs.settings.items())

    def config(self, settings: Mapping[str, str], software_us: float) -> Config:
        """Returns the configuration of a drive with `settings` under the load. See `Target.config`."""
        jobs = replace(self.jobs, settings={**self.jobs.settings, **self.closed_loops(software_us)})
        tables = {**self.tables, "measure": dict(self.tables["measure"])}
        return configuration.load(tables, varied=dict(settings), fio=jobs, keep="capacity", typed={})

    def closed_loops(self, software_us: float) -> dict[str, Any]:
        """Returns the replay settings of the jobs that are closed loops, by key, with the host software time.

        Empty if the time is 0, since the jobs then keep their settings.
        """
        found: dict[str, Any] = {}
        for key, mode in self.jobs.settings.items():
            prefix, is_mode, _ = key.rpartition("replay.mode")
            if is_mode and mode == "stress" and software_us:
                outstanding = int(str(self.jobs.settings[f"{prefix}replay.outstanding"]))
                loop = closed_loop(outstanding, software_us)
                found |= {f"{prefix}replay.{name}": value for name, value in loop.items()}
        return found


@dataclass(frozen=True)
class Target:
    """A measured load: its figures, and the configuration that simulates it."""

    name: str
    held: tuple[Held, ...]
    load: OpenLoad | ClosedLoad | JobLoad
    rows: tuple[SheetRow, ...] = ()
    """Rows of the data sheet that have this load; empty for a load of other measurements."""

    def config(self, settings: Mapping[str, str], software_us: float) -> Config:
        """Returns the configuration of a drive with `settings` under the load.

        Args:
            settings: Values of searched keys.
            software_us: The host software time between a completion and the next request, in microseconds.

        Raises:
            ConfigError: If the drive is invalid.
        """
        return self.load.config(configured(settings), software_us)


def critical_loads(known: Measurements) -> list[Measured]:
    """Returns the loads at saturation (`AT_SATURATION`) that the measured drive nevertheless served in full.

    Within 1 % of the saturation rate, the latency at such a load jumps from that of an idle write buffer to that of a
    full one. It would dominate a fit, but determine nothing but this rate.
    """
    saturation = known.saturation_iops or float("inf")
    return [
        point for point in known.points if not point.is_saturated and point.asked_iops >= AT_SATURATION * saturation
    ]


def targets_of(known: Measurements, drive: Mapping[str, Any], length: Length) -> list[Target]:
    """Returns the loads of a table without its critical loads.

    Of loads that saturated the measured drive, only the lowest and the highest are returned.
    """
    saturated = [point for point in known.points if point.is_saturated]
    left_out = [*saturated[1:-1], *critical_loads(known)]
    found: list[Target] = []
    for point in known.points:
        if point in left_out:
            continue
        loaded = with_load(drive, point.offered_iops, known.space_gib, length.extent)
        if length.precision is not None:
            loaded = until_settled(loaded, length.precision)
        held = held_figures(point.figures, point.is_saturated)
        found.append(Target(name_of(point), held, OpenLoad(loaded, point.is_saturated)))
    return found


def name_of(point: Measured) -> str:
    """Returns the name of a load of a table."""
    return f"{point.offered_iops:,.0f} IOPS"


def targets_of_rows(rows: Sequence[SheetRow], drive: Mapping[str, Any], length: Length) -> list[Target]:
    """Returns the loads of a data sheet, named as in its column `what`.

    Rows with the same load become figures of one target.
    """
    found: list[Target] = []
    for load in dict.fromkeys(row.load for row in rows):
        own = tuple(row for row in rows if row.load == load)
        name = " and ".join(row.what for row in own)
        found.append(Target(name, held_rows(own), ClosedLoad(drive, load, length.extent), own))
    return found


def target_of_jobs(
    name: str, measured: Figures, jobs: FioJobs, depth: int, drive: Mapping[str, Any], length: Length
) -> Target:
    """Returns the jobs of a job file as one load.

    Args:
        name: The name of the load.
        measured: The figures that fio measured.
        jobs: The jobs of the file, as streams.
        depth: The maximum `iodepth` of a job.
        drive: The configuration of the drive, as tables.
        length: The length of the run.
    """
    extent = length.extent
    seconds = extent.seconds(measured.iops)
    tables = dict(drive)
    tables["host"] = {**drive["host"], "queue-depth": max(depth, 1)}
    window = {"warm-up": "time", "warm-up-time": picoseconds(seconds * WARM_UP_SHARE)}
    tables["measure"] = {**drive["measure"], **(window if length.precision is None else settled(length.precision))}
    tables["precondition"] = {**drive["precondition"], "kind": "random"}
    jobs = jobs.on(capacity_bytes(tables))
    settings = dict(jobs.settings)
    for key in jobs.settings:
        prefix, mode, _ = key.rpartition("replay.mode")
        if not mode:
            continue
        settings[f"{prefix}workload.requests"] = int(extent.requests * MARGIN) + 64
        if length.precision is None:
            settings[f"{prefix}replay.stop-time"] = picoseconds(seconds)
        if settings[key] == "open":
            settings[f"{prefix}replay.latency-start"] = "issue"
    load = JobLoad(tables, replace(jobs, settings=settings))
    return Target(name, held_figures(measured, is_saturated=not load.is_paced), load)
