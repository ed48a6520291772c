"""The measured workload as streams of a configuration, for a time that is simulated."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh.validation.measurements import BESIDE_IOPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.configuration import ConfigSource

PACED_IOPS = 10_000
"""What the first stream asks for at even intervals: half reads, half writes."""
WRITERS = 6
"""The streams that ask for the rest as Poisson processes."""
WRITERS_READ_SHARE = 0.01
OUTSTANDING = 64
"""Requests of a stream that are outstanding at most."""
WARM_UP_SHARE = 0.5
"""The part of a run that is dropped: the measurements, too, are of the last half."""
LENGTH_MIN_S = 0.2
GIB, MIB = 2**30, 2**20
NEARLY_ALL = 0.98
"""A measured space of this share of the drive or more is all of it."""
SECTIONS = ("workload", "replay", "queue", "stream")
"""What a configuration says of its workload."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated of a load."""

    requests: int
    """Requests that are asked for, about; the warm-up is among them."""
    requests_per_die: int = 0
    """The same for each die of the drive, where that makes more.

    Each die has to collect several blocks: with fewer, its place in a block decides the write amplification.
    """

    def of(self, tables: Mapping[str, Any]) -> Extent:
        """How much is simulated of a drive."""
        return Extent(max(self.requests, self.requests_per_die * dies_of(tables)))

    def seconds(self, asked_iops: float) -> float:
        """How long a run is at a rate."""
        return max(self.requests / asked_iops, LENGTH_MIN_S)


def drive_tables(source: ConfigSource, overrides: Mapping[str, str], place: str | None = None) -> dict[str, Any]:
    """A drive without its workload, as tables.

    Args:
        source: The configuration of the drive.
        overrides: Values that the user typed, by key.
        place: What names the policies of tables, for errors.

    Raises:
        ConfigError: When the configuration cannot be used.
    """
    config = configuration.load(source, overrides=overrides, place=place)
    tables = tomllib.loads(config.to_toml())
    return {name: table for name, table in tables.items() if name not in SECTIONS}


def capacity_bytes(tables: Mapping[str, Any]) -> int:
    """What the host sees of a drive."""
    from flashmesh.sweeps.ranges import quantity

    geometry = tables["geometry"]
    if "capacity" in geometry:
        return int(quantity("geometry.capacity", geometry["capacity"]).value)
    counts = ("channels", "chips-per-channel", "dies-per-chip", "planes-per-die", "blocks-per-plane", "pages-per-block")
    pages = math.prod(geometry[key] for key in counts)
    size = int(quantity("geometry.page-size", geometry["page-size"]).value)
    return int(pages * (1.0 - float(geometry["over-provisioning"]))) * size


def dies_of(tables: Mapping[str, Any]) -> int:
    """The dies of a drive."""
    geometry = tables["geometry"]
    return math.prod(int(geometry[key]) for key in ("channels", "chips-per-channel", "dies-per-chip"))


def with_load(
    tables: Mapping[str, Any], offered_iops: float, space_gib: float | None, extent: Extent
) -> dict[str, Any]:
    """A drive under the measured workload.

    Args:
        tables: The drive, as `drive_tables` gives it.
        offered_iops: As the measurements name the load.
        space_gib: How much of the drive is touched; None, or about as much as there is or more, for all of it.
        extent: How much is simulated.
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


def footprint_of(tables: Mapping[str, Any], space_gib: float | None) -> int | None:
    """The bytes that are touched; None for all: of a model that is smaller than the drive, too."""
    if space_gib is None or space_gib * GIB >= NEARLY_ALL * capacity_bytes(tables):
        return None
    return int(space_gib * GIB) // MIB * MIB


def size_note(tables: Mapping[str, Any], space_gib: float) -> str | None:
    """A sentence on a model that is smaller than the drive; None where it is not."""
    capacity = capacity_bytes(tables)
    if space_gib * GIB * NEARLY_ALL <= capacity:
        return None
    return (
        f"the simulated drive has {capacity / GIB:.1f} GiB and the measured space is {space_gib:g} GiB: "
        "all of the simulated drive is used"
    )


def share_of(tables: Mapping[str, Any], footprint: int) -> float:
    """The share of a drive that is touched."""
    return round(footprint / capacity_bytes(tables), 6)


def stream(
    iops: float, read_share: float, arrivals: str, seconds: float, footprint: int | None
) -> dict[str, dict[str, Any]]:
    """A stream that asks for so many requests a second until the run ends."""
    mean = iops * seconds
    workload: dict[str, Any] = {
        "kind": "synthetic",
        "pattern": "random",
        "read-share": read_share,
        "request-size": "4KiB",
        "arrivals": arrivals,
        "interarrival": picoseconds(1.0 / iops),
        # The time ends the stream. A Poisson process that has more than this happens in no run.
        "requests": math.ceil(mean + 6.0 * math.sqrt(mean)) + 64,
    }
    if footprint is not None:
        workload["footprint"] = f"{footprint}B"
    replay = {"mode": "open", "latency-start": "issue", "stop-time": picoseconds(seconds)}
    return {"workload": workload, "replay": replay}


def picoseconds(seconds: float) -> str:
    """A time as a configuration spells it."""
    return f"{round(seconds * 1e12)}ps"
