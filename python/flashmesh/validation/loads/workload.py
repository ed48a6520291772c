"""Configurations of the measured workload and of the loads of data-sheet rows."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh.validation.tables.measurements import BESIDE_IOPS
from flashmesh.validation.tables.sheets import EMPTY, ROW_PRECISION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.configuration import ConfigSource
    from flashmesh.configuring.sources import PipeText
    from flashmesh.validation.tables.sheets import SheetLoad

PACED_IOPS = 10_000
"""Rate of the first stream: half reads and half writes, at even intervals."""
WRITERS = 6
"""Number of other streams, which share the remaining requests and issue them as Poisson processes."""
WRITERS_READ_SHARE = 0.01
OUTSTANDING = 64
"""Maximum number of outstanding requests of a stream."""
WARM_UP_SHARE = 0.5
"""Share of the warm-up in a run. As in the measurements, the second half is measured."""
LENGTH_MIN_S = 0.2
GIB, MIB = 2**30, 2**20
NEARLY_ALL = 0.98
"""Share of the capacity from which an accessed space counts as the whole drive."""
ROW_REQUESTS_SHARE = 0.25
"""Maximum requests of the run for a row (a figure of a single load), as a share of the requests of a measured load.
Does not apply to random writes."""
ROW_REQUEST_BYTES = 32 * 2**10
"""Request size in bytes above which the maximum requests of the run for a row fall in inverse proportion, so that the
total bytes stay the same."""
ROW_TURNOVERS = 20
"""Lower bound of the maximum requests of the run for a row, as a multiple of the outstanding requests."""
BURST_SHARE = 0.5
"""Maximum bytes of a burst on an empty drive, as a share of the capacity, so that no block is collected."""
SECTIONS = ("workload", "replay", "queue", "stream")
"""Sections of a configuration that describe its workload."""


@dataclass(frozen=True)
class Extent:
    """Length of the run of a load."""

    requests: int
    """Approximate number of requests, including the warm-up."""
    requests_per_die: int = 0
    """Approximate minimum number of requests for each die.

    Each die must collect several blocks: with few collections, the write amplification depends on their timing.
    """

    def of(self, tables: Mapping[str, Any]) -> Extent:
        """Returns the length for a drive: `requests`, or `requests_per_die` for each of its dies if this is more."""
        return Extent(max(self.requests, self.requests_per_die * dies_of(tables)))

    def seconds(self, asked_iops: float) -> float:
        """Returns the duration of a run at a requested rate."""
        return max(self.requests / asked_iops, LENGTH_MIN_S)

    def row_requests(self, load: SheetLoad) -> int:
        """Returns the maximum number of requests in the run for a row with this load."""
        share = 1.0 if load.has_random_writes else ROW_REQUESTS_SHARE * min(1.0, ROW_REQUEST_BYTES / load.request_bytes)
        return max(int(self.requests * share), ROW_TURNOVERS * load.outstanding)


def drive_tables(
    source: ConfigSource | PipeText, overrides: Mapping[str, str], place: str | None = None
) -> dict[str, Any]:
    """Returns the configuration of a drive without its workload, as tables.

    Args:
        source: The configuration of the drive.
        overrides: Values given by the user, by key.
        place: The name of the source in errors about policies.

    Raises:
        ConfigError: If the configuration is invalid.
    """
    config = configuration.load(source, overrides=overrides, place=place)
    tables = tomllib.loads(config.to_toml())
    return {name: table for name, table in tables.items() if name not in SECTIONS}


def capacity_bytes(tables: Mapping[str, Any]) -> int:
    """Returns the host-visible capacity of a drive in bytes."""
    from flashmesh.sweeps.inputs.ranges import quantity

    geometry = tables["geometry"]
    if "capacity" in geometry:
        return int(quantity("geometry.capacity", geometry["capacity"]).value)
    counts = ("channels", "chips-per-channel", "dies-per-chip", "planes-per-die", "blocks-per-plane", "pages-per-block")
    pages = math.prod(geometry[key] for key in counts)
    size = int(quantity("geometry.page-size", geometry["page-size"]).value)
    return int(pages * (1.0 - float(geometry["over-provisioning"]))) * size


def planes_of(geometry: Mapping[str, Any]) -> int:
    """Returns the number of planes of a drive, from its table `geometry`."""
    keys = ("channels", "chips-per-channel", "dies-per-chip", "planes-per-die")
    return math.prod(int(geometry[key]) for key in keys)


def dies_of(tables: Mapping[str, Any]) -> int:
    """Returns the number of dies of a drive."""
    geometry = tables["geometry"]
    return math.prod(int(geometry[key]) for key in ("channels", "chips-per-channel", "dies-per-chip"))


def with_load(
    tables: Mapping[str, Any], offered_iops: float, space_gib: float | None, extent: Extent
) -> dict[str, Any]:
    """Returns the configuration of a drive with the measured workload.

    Args:
        tables: The drive, from `drive_tables`.
        offered_iops: The offered load, without the reads of the first stream.
        space_gib: The accessed space; None for the whole drive. See `footprint_of`.
        extent: The length of the run.
    """
    seconds = extent.seconds(offered_iops + BESIDE_IOPS)
    footprint = footprint_of(tables, space_gib)
    streams = {"paced": stream(PACED_IOPS, 0.5, "constant", seconds, footprint)}
    rest = (offered_iops - BESIDE_IOPS) / WRITERS
    for number in range(1, WRITERS + 1):
        streams[f"writer-{number}"] = stream(rest, WRITERS_READ_SHARE, "exponential", seconds, footprint)
    loaded = {**tables, "stream": streams}
    loaded["host"] = {**tables["host"], "queue-depth": OUTSTANDING}
    loaded["measure"] = {
        **tables["measure"],
        "warm-up": "time",
        "warm-up-time": picoseconds(seconds * WARM_UP_SHARE),
    }
    fill = {"fill": share_of(tables, footprint)} if footprint is not None else {}
    loaded["precondition"] = {**tables["precondition"], "kind": "random", **fill}
    return loaded


def until_settled(loaded: Mapping[str, Any], precision: str) -> dict[str, Any]:
    """Returns a configuration of `with_load` whose run ends once the mean latency is steady and precise.

    Args:
        loaded: The configuration.
        precision: The half-width of the 95 % confidence interval of the mean latency, such as `3%`. The run ends at
            the latest when all requests of the streams have completed.
    """
    streams = {
        name: {**each, "replay": {key: value for key, value in each["replay"].items() if key != "stop-time"}}
        for name, each in loaded["stream"].items()
    }
    return {**loaded, "stream": streams, "measure": {**loaded["measure"], **settled(precision)}}


def settled(precision: str) -> dict[str, Any]:
    """Returns the keys of `[measure]` that end a run once the mean latency is steady and precise."""
    return {"warm-up": "steady", "precision": precision, "precision-of": "mean"}


def with_row(tables: Mapping[str, Any], load: SheetLoad, extent: Extent, software_us: float) -> dict[str, Any]:
    """Returns the configuration of a drive with the load of a row. The run ends once the request rate is settled.

    The drive is full, or empty for an `EmptyDriveLoad`.

    Args:
        tables: The drive, from `drive_tables`.
        load: The load.
        extent: The length of the runs of measured loads, which limits the length of this run.
        software_us: The host software time between a completion and the next request, in microseconds.
    """
    loaded = dict(tables)
    requests = extent.row_requests(load)
    if load.precondition == EMPTY:
        requests = max(min(requests, int(capacity_bytes(tables) * BURST_SHARE) // load.request_bytes), 2)
    loaded["workload"] = {
        "kind": "synthetic",
        "pattern": load.pattern,
        "read-share": load.read_share,
        "request-size": f"{load.request_bytes}B",
        "requests": requests,
    }
    loaded["replay"] = closed_loop(load.outstanding, software_us)
    loaded["host"] = {**tables["host"], "queue-depth": load.outstanding}
    if load.precondition == EMPTY:
        return loaded | burst(tables, requests)
    settled = {"warm-up": "steady", "precision": ROW_PRECISION, "precision-of": "iops"}
    loaded["measure"] = {**tables["measure"], **settled}
    loaded["precondition"] = {**tables["precondition"], "kind": load.precondition, "fill": 1.0}
    return loaded


def burst(tables: Mapping[str, Any], requests: int) -> dict[str, Any]:
    """Returns the configuration tables `measure` and `precondition` for a run of `requests` requests on an empty drive.

    A burst has no steady state: the run has a warm-up of fixed length, and ends before the SLC cache is full.
    """
    warm_up = {"warm-up": "requests", "warm-up-requests": int(requests * WARM_UP_SHARE)}
    precision = {"precision": ROW_PRECISION, "precision-of": "iops"}
    # `fill` does not apply to an empty drive.
    filled = {key: value for key, value in tables["precondition"].items() if key != "fill"}
    return {"measure": {**tables["measure"], **warm_up, **precision}, "precondition": {**filled, "kind": EMPTY}}


def closed_loop(outstanding: int, software_us: float) -> dict[str, Any]:
    """Returns the `replay` table of a closed loop.

    Args:
        outstanding: The constant number of outstanding requests.
        software_us: The host software time between a completion and the next request, in microseconds. Simulated
            latencies do not include this time.
    """
    if not software_us:
        return {"mode": "stress", "outstanding": outstanding}
    return {"mode": "closed", "threads": outstanding, "think-time": picoseconds(software_us / 1e6)}


def footprint_of(tables: Mapping[str, Any], space_gib: float | None) -> int | None:
    """Returns the accessed bytes; None for the whole drive: a space of `NEARLY_ALL` of the capacity or more."""
    if space_gib is None or space_gib * GIB >= NEARLY_ALL * capacity_bytes(tables):
        return None
    return int(space_gib * GIB) // MIB * MIB


def size_note(tables: Mapping[str, Any], space_gib: float | None) -> str | None:
    """Returns a note if the simulated drive is smaller than the measured space; otherwise, or without a space, None."""
    if space_gib is None:
        return None
    capacity = capacity_bytes(tables)
    if space_gib * GIB * NEARLY_ALL <= capacity:
        return None
    return (
        f"the simulated drive has {capacity / GIB:.1f} GiB and the measured space is {space_gib:g} GiB: "
        "the workload accesses the whole simulated drive"
    )


def share_of(tables: Mapping[str, Any], footprint: int) -> float:
    """Returns `footprint` as a share of the capacity."""
    return round(footprint / capacity_bytes(tables), 6)


def stream(
    iops: float, read_share: float, arrivals: str, seconds: float, footprint: int | None
) -> dict[str, dict[str, Any]]:
    """Returns the configuration of a stream of random 4 KiB requests with the rate `iops` for the time `seconds`.

    Args:
        iops: The mean rate.
        read_share: The share of reads.
        arrivals: The distribution of the times between requests: `constant` or `exponential`.
        seconds: The duration.
        footprint: The accessed bytes; None for the whole drive.
    """
    mean = iops * seconds
    workload: dict[str, Any] = {
        "kind": "synthetic",
        "pattern": "random",
        "read-share": read_share,
        "request-size": "4KiB",
        "arrivals": arrivals,
        "interarrival": picoseconds(1.0 / iops),
        # Six standard deviations above the mean, so that the stop time ends the stream.
        "requests": math.ceil(mean + 6.0 * math.sqrt(mean)) + 64,
    }
    if footprint is not None:
        workload["footprint"] = f"{footprint}B"
    replay = {"mode": "open", "latency-start": "issue", "stop-time": picoseconds(seconds)}
    return {"workload": workload, "replay": replay}


def picoseconds(seconds: float) -> str:
    """Returns a time in picoseconds, in the notation of configurations."""
    return f"{round(seconds * 1e12)}ps"
