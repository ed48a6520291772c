"""Table of measured sweeps (depths, block sizes) and mixes: a row for each load, with its rate and latencies.

Each load is a closed loop, like the loads of data sheets, with the link and the software time of the measured host.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.validation.figures import STATISTICS, Figures
from flashmesh.validation.tables.cells import number as finite_number
from flashmesh.validation.tables.cells import one_of, table_cells
from flashmesh.validation.tables.measurements import Measurements, number, require_ordered
from flashmesh.validation.tables.sheets import (
    BANDWIDTHS,
    LATENCY,
    RATE,
    REQUEST_RATE,
    SheetLoad,
    SheetRow,
    load_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "sweeps.csv"
DEPTH, BLOCK_SIZE, MIX, DATA_SHEET = "depth", "block-size", "mix", "data-sheet"
KINDS = (DEPTH, BLOCK_SIZE, MIX, DATA_SHEET)
TITLES = {DEPTH: "Depths", BLOCK_SIZE: "Block sizes", MIX: "Mixes"}
"""Heading of each kind of sweep. Data-sheet rows are in the section on data sheets."""
FILLS = ("random", "sequential", "none")
READS, WRITES = "read", "write"
PCIE_3 = {"link-rate": "3938MB/s", "packet-payload": "128B", "packet-overhead": "24B"}
"""PCIe 3.0 x4: rate after line coding, packet payload and packet overhead."""
OWN_HOST = "PCIe 4.0 x4"
HOSTS: dict[str, dict[str, str]] = {"SPDK": PCIE_3, "io_uring": PCIE_3, OWN_HOST: {}}
"""Values of `[host]` for each measured host, which override those of the preset."""
BANDWIDTH, BANDWIDTH_UNIT = "mb_s", "MB/s"
COLUMNS = (
    "drive",
    "source",
    "kind",
    "host",
    "host_us",
    "pattern",
    "request_size",
    "read_share",
    "outstanding",
    "writes_beside",
    "fill",
    "of",
    "iops",
    BANDWIDTH,
    *(f"{statistic}_us" for statistic in STATISTICS),
)
"""Columns of `sweeps.csv`."""
JUDGED = ("mean", "p50", "p99")
"""Latency statistics that have a tolerance."""
TAIL = "p99"
SPACES_GIB = {"Samsung 980 PRO": 931.5}
"""Accessed space of each drive: the whole drive."""
SWEEP_SENTENCE = (
    "Each load is a closed loop with QD requests outstanding, on a full drive that was overwritten at random. "
    "It has the link of the measured host, and the time of the host software between a completion and the next "
    "request. Loads with writes find the SLC cache full."
)
"""Sentences on a page that describe the loads of the tables of sweeps and mixes."""

SWEEP_SOURCE = "Ren and others (ICPE 2024), fio on a Samsung 980 PRO"


@dataclass(frozen=True)
class SweepLoad(SheetLoad):
    """Closed loop on a host, optionally with a second, concurrent closed loop of writes."""

    writes_beside: int
    """Outstanding writes of a second job; 0 without one."""
    fill: str
    """State of the drive: `random` (overwritten at random), `sequential` (written once in order), `none` (empty)."""
    host: str
    """Measured host, a key of `HOSTS`."""
    host_us: float
    """Host software time between a completion and the next request, in microseconds."""

    @property
    def precondition(self) -> str:
        """Value of `precondition.kind` in the configuration of the run."""
        return self.fill

    @property
    def has_writes(self) -> bool:
        """Whether any job writes."""
        return self.read_share < 1.0 or self.writes_beside > 0

    @property
    def has_random_writes(self) -> bool:
        """Whether the load has random writes, which need garbage collection in steady state."""
        return self.pattern == "random" and self.has_writes

    @property
    def title(self) -> str:
        """Description of the load, without host and state of the drive."""
        kind = {1.0: "read", 0.0: "write"}.get(self.read_share, f"mix of {100 * self.read_share:g} % reads")
        beside = f" beside writes QD{self.writes_beside}" if self.writes_beside else ""
        return f"{self.pattern} {kind} {self.request_bytes // 1024} KiB QD{self.outstanding}{beside}"

    @property
    def label(self) -> str:
        """Label of the run in progress lines and errors."""
        return f"{self.title} {self.host} {self.fill}"


@dataclass(frozen=True)
class SweepRow(SheetRow):
    """A measured figure of a load of a sweep or a mix."""

    kind: str
    """One of `KINDS`."""
    of: str
    """Kind of requests in the figure: `read` or `write`."""

    @property
    def tolerance_name(self) -> str:
        """Name of the tolerance of the row."""
        return f"{self.kind}-{TAIL}" if self.kind in (DEPTH, BLOCK_SIZE) and self.statistic == TAIL else self.kind

    def value_of(self, figures: Figures) -> float | None:
        """Returns the simulated figure that corresponds to the row, in the unit of the row; None if it is missing."""
        if self.unit == LATENCY:
            return figures.value(f"{self.of}_{self.statistic}_us")
        iops = figures.value(f"{self.of}_iops")
        return (
            iops if iops is None or self.unit == REQUEST_RATE else iops * self.load.request_bytes / BANDWIDTHS["MB/s"]
        )


@cache
def bundled() -> tuple[SweepRow, ...]:
    """Returns the bundled rows. `SOURCE.md` in the folder `data` names their origin."""
    return parse(files("flashmesh.validation").joinpath("data", FILE).read_text(encoding="utf-8"), FILE)


def rows_of(drive: str) -> tuple[SweepRow, ...]:
    """Returns the bundled rows of the drive with the name `drive` in the measurements."""
    return tuple(row for row in bundled() if row.drive == drive)


def measured() -> tuple[Measurements, ...]:
    """Returns a record for each drive of the bundled rows; its list of measured open loads (points) is empty."""
    found: dict[str, list[str]] = {}
    for row in bundled():
        named = found.setdefault(row.drive, [])
        if row.kind != DATA_SHEET and row.reference not in named:
            named.append(row.reference)
    return tuple(Measurements(drive, SPACES_GIB[drive], (), "; ".join(named)) for drive, named in found.items())


def parse(text: str, name: str) -> tuple[SweepRow, ...]:
    """Parses a CSV table of sweeps and mixes.

    Raises:
        ConfigError: If a column is missing, a row is invalid or repeated, or there are no rows.
    """
    found: dict[tuple[str, SheetLoad, str, str], tuple[SweepRow, ...]] = {}
    for place, cells in table_cells(text, name, COLUMNS):
        rows = rows_from(place, cells)
        key = (rows[0].drive, rows[0].load, rows[0].of, rows[0].reference)
        if key in found:
            raise ConfigError(f"{place}: {rows[0].drive} has {rows[0].load.label} twice: keep one of the rows")
        found[key] = rows
    return tuple(row for rows in found.values() for row in rows)


def rows_from(place: str, cells: Mapping[str, str]) -> tuple[SweepRow, ...]:
    """Parses a row of the table. Returns a row for each of its figures.

    Raises:
        ConfigError: If a cell is invalid, the load has no figure or an impossible one, or percentiles decrease.
    """
    for column in ("drive", "source"):
        if not cells[column]:
            raise ConfigError(f"{place}: {column} is empty")
    kind = one_of(place, "kind", cells["kind"], KINDS)
    of = one_of(place, "of", cells["of"], (READS, WRITES))
    load = sweep_load(place, cells)
    if of == WRITES and not load.has_writes:
        raise ConfigError(f"{place}: of is 'write': the load has no writes")
    if of == READS and load.read_share == 0.0:
        raise ConfigError(f"{place}: of is 'read': the load has no reads")
    known = {
        column: number(place, column, cells[column]) for column in COLUMNS[COLUMNS.index("iops") :] if cells[column]
    }
    if "iops" in known and BANDWIDTH in known:
        raise ConfigError(f"{place}: iops and {BANDWIDTH} are both given: keep one of them")
    require_ordered(place, percentiles(known))
    source = cells["source"] if kind == DATA_SHEET else f"{cells['source']}, {load.host}"
    among = f" of {of}s" if load.writes_beside or 0.0 < load.read_share < 1.0 else ""

    def row(value: float, unit: str, statistic: str) -> SweepRow:
        what = f"{load.title}{among} {statistic}"
        if load.fill == "none":
            what = f"{what}, empty drive"
        return SweepRow(cells["drive"], what, source, value, unit, load, statistic, kind, of)

    rates = [row(known["iops"], REQUEST_RATE, RATE)] if "iops" in known else []
    rates += [row(known[BANDWIDTH], BANDWIDTH_UNIT, RATE)] if BANDWIDTH in known else []
    latencies = [row(known[f"{each}_us"], LATENCY, each) for each in JUDGED if f"{each}_us" in known]
    if not (rates or latencies):
        raise ConfigError(f"{place}: has no figure: add iops, {BANDWIDTH} or a latency")
    return (*rates, *latencies)


def percentiles(known: Mapping[str, float]) -> Figures:
    """Returns the latencies of a row as latencies of reads, for `require_ordered`."""
    return Figures(0.0, 0.0, **{f"read_{each}_us": known[f"{each}_us"] for each in STATISTICS if f"{each}_us" in known})


def sweep_load(place: str, cells: Mapping[str, str]) -> SweepLoad:
    """Parses the load of a row.

    Raises:
        ConfigError: If a cell is invalid.
    """
    loop = load_of(place, cells)
    beside = cells["writes_beside"]
    if not (beside.isascii() and beside.isdigit() and int(beside) <= 65_535):
        raise ConfigError(f"{place}: writes_beside is {beside!r}: expected an integer, 0 to 65,535")
    if int(beside) and loop.read_share < 1.0:
        raise ConfigError(f"{place}: writes_beside is {beside!r}, which needs read_share 1 for the first job")
    host = one_of(place, "host", cells["host"], tuple(HOSTS))
    host_us = finite_number(place, "host_us", cells["host_us"])
    if host_us < 0:
        raise ConfigError(f"{place}: host_us is {cells['host_us']!r}: expected a time of 0 or more")
    fill = one_of(place, "fill", cells["fill"], FILLS)
    return SweepLoad(
        loop.read_share, loop.request_bytes, loop.pattern, loop.outstanding, int(beside), fill, host, host_us
    )
