"""Measured drives and workloads: configurations with some keys changed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.build import Build

FOLDER = Path(__file__).parent / "drives"
Settings = dict[str, str | float]


@dataclass(frozen=True, slots=True)
class Row:
    """A measured drive with its workload."""

    name: str
    settings: Settings
    """Changed keys of the configuration."""
    requests: int
    """Requests of the timed run: about one second of run time when the row was added."""
    counted: int
    """Requests of the shorter of two runs with counted instructions; the longer run has three times as many. 0 if
    instructions are not counted."""
    file: str = "venice-z-nand.toml"
    """File name of the configuration that the settings change."""
    streams: int = 1
    """Number of streams among which the requests are divided."""
    options: tuple[str, ...] = ()
    """Command-line options with which the row is run, such as `--check`."""
    is_command: bool = False
    """Whether the Python command runs the row, with output for people, instead of the Rust program."""

    @property
    def path(self) -> Path:
        """Path of the configuration that the settings change."""
        return FOLDER / self.file

    def command(self, build: Build, requests: int) -> list[str]:
        """Returns the command that runs the row."""
        settings = self.settings | {"workload.requests": requests // self.streams}
        keys = [f"{key}={value}" for key, value in settings.items()]
        if self.is_command:
            options = [part for key in keys for part in ("--set", key)]
            return [sys.executable, "-m", "flashmesh", "run", str(self.path), *options]
        return [str(build.runner), *self.options, str(self.path), *keys]


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bound on the cost of `row`, as a multiple of the cost of the row `over`."""

    name: str
    row: str
    over: str
    most: float
    """The largest ratio allowed."""
    of: str = "cpu"
    """Compared cost: "cpu" is time per request, "peak" the memory of the entire run, "hop" time per request and hop."""


RESIDENT: Settings = {"workload.footprint": "256MiB"}
"""Settings with 64 Ki pages, whose map stays in the processor's cache."""
SMALL: Settings = {"workload.footprint": "4GiB"}
LARGE_REQUESTS: Settings = {"workload.pattern": "sequential", "workload.request-size": "64KiB"}
MAP_MISSES: Settings = {"workload.footprint": "64MiB", "mapping.cache-capacity": f"{(1 << 14) * 9 // 10 * 8}B"}
"""Settings whose mapping cache holds nine tenths of the map entries, of eight bytes each."""
MQSIM: Settings = {"workload.footprint": "18723328KiB", "replay.outstanding": 64}
"""Settings that access four fifths of the drive, like the flows of MQSim."""
WRITES: Settings = {"workload.read-share": 0}
FULL: Settings = {"geometry.blocks-per-plane": 64, "precondition.kind": "random"}
"""Settings of a small drive, full of randomly overwritten data, that soon reaches the steady state."""
POLICY: Settings = FULL | {"workload.read-share": 0.3, "geometry.over-provisioning": 0.16}
"""Settings with reads, writes and garbage collection, with which rows compare firmware policies."""


def mesh(side: int) -> Settings:
    """Returns the settings of Venice on a square grid of chips, with the same load for each controller."""
    return SMALL | {
        "fabric.kind": "venice",
        "geometry.channels": side,
        "geometry.chips-per-channel": side,
        "replay.outstanding": 8 * side,
        "host.link-rate": f"{side}GB/s",
    }


def fabric(kind: str, requests: int, counted: int) -> Row:
    """Returns the row of random reads over an interconnect."""
    return Row(f"4 KiB random reads, {kind}", RESIDENT | {"fabric.kind": kind}, requests, counted)


BUS = fabric("bus", 4_000_000, 20_000)
LARGE_DRIVE: Settings = {"fabric.kind": "ideal", "geometry.channels": 32, "geometry.chips-per-channel": 32}
COLLIDING_RUNS = (1_500_000, 20_000)
COLLIDING = Row("8 random reads, drive of 16 dies", {}, *COLLIDING_RUNS, file="collisions.toml")


DEEP: Settings = {"replay.outstanding": 65_535, "host.queue-depth": 65_535}
QUEUE: Settings = {"host.interface": "nvme", "replay.outstanding": 1024}
DEEP_QUEUE: Settings = QUEUE | {"replay.outstanding": 32 << 10, "host.queue-depth": 65_535, "nvme.fetch-size": 16 << 10}
"""Settings with one queue that has as many outstanding reads as 32 queues of `QUEUE`, all of them in the drive."""


def full(blocks: int) -> Settings:
    """Returns the settings of a drive with `blocks` blocks in each plane, full of randomly overwritten data."""
    return {"geometry.blocks-per-plane": blocks, "precondition.kind": "random"}


POLICIES = ("sprinkler", "paq", "fair")


def policy(name: str) -> Row:
    """Returns the row of a scheduling policy; the rows of all policies have the same reads."""
    return Row(f"same reads, {name}", RESIDENT | {"schedule.policy": name}, 2_000_000, 20_000)


ROWS = [
    BUS,
    Row("4 KiB random reads, bus, whole drive", {}, 3_000_000, 20_000),
    fabric("ideal", 4_000_000, 20_000),
    fabric("pssd", 4_000_000, 20_000),
    fabric("pnssd", 4_000_000, 20_000),
    Row("4 KiB random reads, 10 % map misses", MAP_MISSES, 1_000_000, 50_000),
    Row("64 KiB sequential reads, bus", RESIDENT | LARGE_REQUESTS, 300_000, 4_000),
    Row("steady-state random writes, WA 4", FULL | WRITES | {"geometry.over-provisioning": 0.16}, 500_000, 20_000),
    Row("30/70 mix under collection, TBM", POLICY | {"ftl.policy": "tbm"}, 250_000, 10_000),
    Row("30/70 mix under collection, MBM", POLICY | {"ftl.policy": "mbm", "mbm.suspension": "off"}, 250_000, 10_000),
    Row("30/70 mix under collection, page", POLICY, 500_000, 20_000),
    Row("70/30, collection, cache, 4 queues", {}, 800_000, 20_000, file="mix.toml", streams=4),
    Row("MQSim, 4 KiB random reads", MQSIM, 2_000_000, 20_000, file="mqsim.toml"),
    Row("MQSim, 4 KiB random writes", MQSIM | WRITES, 2_000_000, 20_000, file="mqsim.toml"),
    Row("MQSim, 70/30 mix", MQSIM | {"workload.read-share": 0.7}, 2_000_000, 20_000, file="mqsim.toml"),
    Row(
        "MQSim, 64 KiB sequential reads",
        MQSIM | LARGE_REQUESTS | {"workload.alignment": "64KiB", "replay.outstanding": 16},
        200_000,
        4_000,
        file="mqsim.toml",
    ),
    *map(policy, POLICIES),
    Row("same reads, strict priorities", RESIDENT | {"schedule.priorities": "strict"}, 2_000_000, 20_000),
    COLLIDING,
    Row("same reads, collisions analysed", {"measure.collisions": "true"}, *COLLIDING_RUNS, file=COLLIDING.file),
    Row("same reads, replication on", {"replication.enabled": "true"}, *COLLIDING_RUNS, file=COLLIDING.file),
    fabric("nossd", 500_000, 8_000),
    fabric("venice", 400_000, 6_000),
    Row("hot row, Venice", {"fabric.kind": "venice"}, 100_000, 5_000, file="hot-row.toml"),
    Row("Venice, 8x8 chips", mesh(8), 200_000, 5_000),
    Row("Venice, 32x32 chips", mesh(32), 10_000, 1_000),
    Row("Venice, 32x32 chips, oracles on", mesh(32), 10_000, 0, options=("--check",)),
    Row("one request, whole command", {}, 1, 0, is_command=True),
    Row("same reads, epochs of 1 ms", BUS.settings | {"measure.epoch": "1ms"}, BUS.requests, BUS.counted),
    Row("same reads, recording on", BUS.settings | {"measure.network": "true"}, BUS.requests, BUS.counted),
    Row("same reads, oracles on", BUS.settings, 500_000, 10_000, options=("--check",)),
    Row("4 KiB random reads, ideal, 32x32 chips", LARGE_DRIVE, 2_000_000, 0),
    Row("4 KiB random reads, ideal, 32x32 chips, oracles on", LARGE_DRIVE, 1_000_000, 0, options=("--check",)),
    Row("same reads, a quarter as many", BUS.settings, BUS.requests // 4, 0),
    Row("same reads, 65,535 outstanding", BUS.settings | DEEP, 2_000_000, 0),
    Row("same reads, NVMe queue of 1,024", BUS.settings | QUEUE, 1_000_000, 20_000),
    Row("same reads, 32 NVMe queues of 1,024", BUS.settings, 1_000_000, 0, file="queues.toml", streams=32),
    Row("same reads, NVMe queue of 32,768", BUS.settings | DEEP_QUEUE, 1_000_000, 0),
    Row("preparing a full drive of 52 GB", full(128), 1_000, 0),
    Row("preparing a full drive of 206 GB", full(512), 1_000, 0),
    Row("4 KiB random reads of 4 GiB", SMALL, 2_000_000, 0),
    Row("same reads, drive four times as large", SMALL | {"geometry.blocks-per-plane": 4096}, 2_000_000, 0),
]

LONG_ROWS = [Row("100 M random reads, bus", RESIDENT, 100_000_000, 0)]
"""Rows that take minutes and run only on demand."""

BOUNDS = [
    Bound("time of four times the requests", BUS.name, "same reads, a quarter as many", 1.1),
    Bound("memory of four times the requests", BUS.name, "same reads, a quarter as many", 1.05, of="peak"),
    Bound("time of 100 M requests", "100 M random reads, bus", BUS.name, 1.1),
    Bound("memory of 100 M requests", "100 M random reads, bus", BUS.name, 1.05, of="peak"),
    Bound("time on 1.6 TB over 412 GB", "same reads, drive four times as large", "4 KiB random reads of 4 GiB", 1.1),
    Bound("time of 65,535 outstanding over 64", "same reads, 65,535 outstanding", BUS.name, 1.5),
    Bound(
        "time of 32 NVMe queues over one",
        "same reads, 32 NVMe queues of 1,024",
        "same reads, NVMe queue of 1,024",
        1.1,
    ),
    Bound(
        "time of 32 NVMe queues over one with as many reads",
        "same reads, 32 NVMe queues of 1,024",
        "same reads, NVMe queue of 32,768",
        1.25,
    ),
    Bound(
        "time of preparing four times the drive",
        "preparing a full drive of 206 GB",
        "preparing a full drive of 52 GB",
        4.5,
    ),
    *(Bound(f"time of {name} over the default", f"same reads, {name}", BUS.name, 2.0) for name in POLICIES),
    Bound("TBM over the plain FTL", "30/70 mix under collection, TBM", "30/70 mix under collection, page", 2.0),
    Bound("MBM over the plain FTL", "30/70 mix under collection, MBM", "30/70 mix under collection, page", 2.0),
    Bound("analysis of collisions", "same reads, collisions analysed", COLLIDING.name, 1.15),
    Bound("replication", "same reads, replication on", COLLIDING.name, 1.25),
    Bound("epochs of 1 ms", "same reads, epochs of 1 ms", BUS.name, 1.3),
    Bound("recording of the network", "same reads, recording on", BUS.name, 1.15),
    Bound("oracles on the bus", "same reads, oracles on", BUS.name, 6.0),
    Bound(
        "oracles on the ideal fabric, 32x32",
        "4 KiB random reads, ideal, 32x32 chips, oracles on",
        "4 KiB random reads, ideal, 32x32 chips",
        6.0,
    ),
    Bound("oracles on Venice, 32x32", "Venice, 32x32 chips, oracles on", "Venice, 32x32 chips", 6.0),
    Bound("Venice, 32x32 over 8x8, a hop", "Venice, 32x32 chips", "Venice, 8x8 chips", 3.0, of="hop"),
]
