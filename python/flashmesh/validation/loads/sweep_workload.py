"""Configurations of the loads of sweeps: closed loops with the link and software of the measured host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.validation.loads.workload import Extent, burst, closed_loop, picoseconds
from flashmesh.validation.tables.sheets import ROW_PRECISION
from flashmesh.validation.tables.sweeps import HOSTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.validation.tables.sweeps import SweepLoad

TWO_JOBS_IOPS = 200_000
"""Assumed request rate of two concurrent jobs, from which the duration of their run follows."""
WARM_UP_SHARE = 0.5
"""Share of the time of two jobs that is warm-up."""
ENDLESS = 10**9
"""Number of requests of a job that a stop time ends: more than the job can issue until then."""


def with_sweep(tables: Mapping[str, Any], load: SweepLoad, extent: Extent) -> dict[str, Any]:
    """Returns the configuration of a drive with a load of a sweep.

    Args:
        tables: The drive, from `drive_tables`.
        load: The load.
        extent: The length of the runs of measured loads, which limits the length of this run.
    """
    loaded = dict(tables) if load.fill == "none" else with_full_slc_cache(tables, load)
    depth = load.outstanding + load.writes_beside
    loaded["host"] = {**tables["host"], **HOSTS[load.host], "queue-depth": depth}
    settled = {"precision": ROW_PRECISION, "precision-of": "iops"}
    requests = extent.row_requests(load)
    if load.fill == "none":
        loaded |= burst(tables, requests)
    else:
        loaded["measure"] = {**tables["measure"], "warm-up": "steady", **settled}
        loaded["precondition"] = {**tables["precondition"], "kind": load.fill, "fill": 1.0}
    if not load.writes_beside:
        loaded["workload"] = workload(load, load.read_share, requests)
        loaded["replay"] = closed_loop(load.outstanding, load.host_us)
        return loaded
    seconds = extent.requests / TWO_JOBS_IOPS
    stop = {"stop-time": picoseconds(seconds)}
    loaded["stream"] = {
        "reads": {
            "workload": workload(load, 1.0, ENDLESS),
            "replay": {**closed_loop(load.outstanding, load.host_us), **stop},
        },
        "writes": {
            "workload": workload(load, 0.0, ENDLESS),
            "replay": {**closed_loop(load.writes_beside, load.host_us), **stop},
        },
    }
    warm_up_time = picoseconds(seconds * WARM_UP_SHARE)
    loaded["measure"] = {**tables["measure"], "warm-up": "time", "warm-up-time": warm_up_time, **settled}
    return loaded


def workload(load: SweepLoad, read_share: float, requests: int) -> dict[str, Any]:
    """Returns the `workload` table of one job (closed loop) of a load."""
    return {
        "kind": "synthetic",
        "pattern": load.pattern,
        "read-share": read_share,
        "request-size": f"{load.request_bytes}B",
        "requests": requests,
    }


def with_full_slc_cache(tables: Mapping[str, Any], load: SweepLoad) -> dict[str, Any]:
    """Returns the drive; for a load with writes, without its static SLC cache and its blocks, to model a full cache.

    The measured loads wrote for minutes, which filled the cache and left dies no idle time for folding.
    """
    slc = tables.get("slc", {})
    blocks = int(slc.get("blocks-per-plane", 0))
    if not load.has_writes or blocks == 0 or slc.get("region", "static") != "static":
        return dict(tables)
    geometry = {**tables["geometry"], "blocks-per-plane": int(tables["geometry"]["blocks-per-plane"]) - blocks}
    return {**tables, "geometry": geometry, "slc": {"blocks-per-plane": 0}}
