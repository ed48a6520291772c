"""Targets of a calibration: loads with measured figures, and the configuration that simulates each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh.validation.workload import WARM_UP_SHARE, Extent, capacity_bytes, picoseconds, with_load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh._native import Config
    from flashmesh.importers.fio import FioJobs
    from flashmesh.validation.figures import Figures
    from flashmesh.validation.measurements import Measurements

MARGIN = 1.2
"""Factor on the number of requests of a stream, so that the clock ends the stream even on a faster drive."""


@dataclass(frozen=True)
class Target:
    """A load with its measured figures."""

    name: str
    measured: Figures
    is_saturated: bool
    tables: Mapping[str, Any] = field(repr=False)
    """Configuration of the drive with the settings of the load, as tables."""
    jobs: FioJobs | None = field(default=None, repr=False)
    """Streams of the fio jobs; None for other loads."""

    def config(self, settings: Mapping[str, str]) -> Config:
        """Returns the drive with some settings, under the load.

        Raises:
            ConfigError: If the drive is invalid.
        """
        return configuration.load(self.tables, varied=dict(settings), fio=self.jobs, keep="capacity", typed={})


def targets_of(known: Measurements, drive: Mapping[str, Any], extent: Extent) -> list[Target]:
    """Returns the loads of a table; of the saturating loads only the lowest and the highest, as all are alike."""
    saturated = [point for point in known.points if point.is_saturated]
    left_out = saturated[1:-1]
    return [
        Target(
            f"{point.offered_iops:,.0f} IOPS",
            point.figures,
            point.is_saturated,
            with_load(drive, point.offered_iops, known.space_gib, extent),
        )
        for point in known.points
        if point not in left_out
    ]


def target_of_jobs(
    name: str, measured: Figures, jobs: FioJobs, depth: int, drive: Mapping[str, Any], extent: Extent
) -> Target:
    """Returns the load of a job file.

    Args:
        name: The name of the load.
        measured: The figures that fio measured.
        jobs: The jobs, as streams.
        depth: The maximum queue depth of a job.
        drive: The drive.
        extent: The simulated length.
    """
    seconds = extent.seconds(measured.iops)
    tables = dict(drive)
    tables["host"] = {**drive["host"], "queue-depth": max(depth, 1)}
    tables["measure"] = {**drive["measure"], "warm-up": "time", "warm-up-time": picoseconds(seconds * WARM_UP_SHARE)}
    tables["precondition"] = {**drive["precondition"], "kind": "random"}
    jobs = jobs.on(capacity_bytes(tables))
    settings = dict(jobs.settings)
    is_paced = False
    for key in jobs.settings:
        prefix, mode, _ = key.rpartition("replay.mode")
        if not mode:
            continue
        settings[f"{prefix}replay.stop-time"] = picoseconds(seconds)
        settings[f"{prefix}workload.requests"] = int(extent.requests * MARGIN) + 64
        if settings[key] == "open":
            is_paced = True
            settings[f"{prefix}replay.latency-start"] = "issue"
    return Target(name, measured, not is_paced, tables, replace(jobs, settings=settings))
