"""Table of data-sheet rows: figures of single loads, from the manufacturer or measured. A row for each figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.validation.figures import STATISTICS
from flashmesh.validation.tables.cells import number, one_of, table_cells
from flashmesh.validation.tables.measurements import SOURCE, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flashmesh.validation.figures import Figures

FILE = "datasheets.csv"
COLUMNS = (
    "drive",
    "what",
    "reference",
    "value",
    "unit",
    "read_share",
    "request_size",
    "pattern",
    "outstanding",
    "statistic",
)
"""Columns of a table of data-sheet rows."""
FILL, FULL, EMPTY = "fill", "full", "none"
"""Name of the optional column for the state of the drive, and its two values. A drive is full by default."""
REQUEST_RATE, LATENCY = "IOPS", "us"
BANDWIDTHS = {"MB/s": 10.0**6, "MiB/s": 2.0**20}
"""Bytes per second of each unit of bandwidths."""
UNITS = (*BANDWIDTHS, REQUEST_RATE, LATENCY)
RATE = "rate"
"""Statistic of rows that have a bandwidth or a request rate."""
LOAD_SENTENCE = (
    "Each row is a closed loop with QD requests outstanding, until the request rate is settled. The drive is full, or "
    "empty if the row says so; runs of an empty drive end before its SLC cache is full."
)
"""Sentences on a page that describe the loads of the table of data-sheet rows."""
ROW_SENTENCE = f"{LOAD_SENTENCE} Values are from the manufacturer's data sheet or, if `measured`, from {SOURCE}."
"""Sentences for pages on the loads and the origin of the bundled data-sheet rows."""
ROW_PRECISION = 0.005
"""Value of `measure.precision` in runs of data-sheet rows: a run ends when its request rate is known to 0.5 %."""
PATTERNS = ("sequential", "random")
NAMES = {
    "drive": "the name of the drive",
    "what": "a description, such as random read 4 KiB QD1 mean",
    "reference": "the origin of the value, such as data sheet",
}
"""Columns of free text, and what each holds."""
VALUE = "a number above 0, without separators of thousands"
SHARE = "a number from 0 (only writes) to 1 (only reads)"
SIZE = "a size with its unit, such as 512B, 4KiB or 1MiB"
OUTSTANDING_MAX = 65_535
"""Maximum of `host.queue-depth`."""


@dataclass(frozen=True)
class SheetLoad:
    """Load of a data-sheet row: a closed loop with a constant number of outstanding requests."""

    read_share: float
    request_bytes: int
    pattern: str
    outstanding: int

    @property
    def precondition(self) -> str:
        """Value of `precondition.kind` in the configuration of the run."""
        return "random" if self.has_random_writes else "sequential"

    @property
    def has_random_writes(self) -> bool:
        """Whether the load has random writes, which need garbage collection in steady state."""
        return self.pattern == "random" and self.read_share < 1.0

    @property
    def label(self) -> str:
        """Label of the run in progress lines, errors and calibrations."""
        size = f"{self.request_bytes // 1024}KiB" if self.request_bytes % 1024 == 0 else f"{self.request_bytes}B"
        return f"{self.pattern} {100 * self.read_share:g}% reads {size} QD{self.outstanding}"


@dataclass(frozen=True)
class EmptyDriveLoad(SheetLoad):
    """Load of writes to an empty drive, whose SLC cache takes them."""

    fill: str = EMPTY
    """Value of `precondition.kind`, which marks the load in JSON."""

    @property
    def precondition(self) -> str:
        """Value of `precondition.kind` in the configuration of the run."""
        return self.fill

    @property
    def label(self) -> str:
        """Label of the run in progress lines, errors and calibrations."""
        return f"{super().label}, empty drive"


@dataclass(frozen=True)
class SheetRow:
    """A figure of a single load, from a data sheet or measured."""

    drive: str
    """Name of the drive in the measurements."""
    what: str
    """Description of the load and the statistic."""
    reference: str
    """Origin of the value, such as `data sheet` or `measured`."""
    value: float
    unit: str
    load: SheetLoad
    statistic: str
    """`rate`, or the statistic of a latency."""
    place: str = field(default="", compare=False, repr=False, kw_only=True)
    """Place of the row, as `file:line`; empty if unknown."""

    @property
    def tolerance_name(self) -> str:
        """Name of the tolerance of the row."""
        return "data-sheet"

    def value_of(self, figures: Figures) -> float | None:
        """Returns the simulated figure that corresponds to the row, in the unit of the row; None if it is missing."""
        if self.unit == LATENCY:
            kind = "read" if self.load.read_share == 1.0 else "write"
            return figures.value(f"{kind}_{self.statistic}_us")
        return figures.iops * self.load.request_bytes / BANDWIDTHS.get(self.unit, self.load.request_bytes)


@cache
def bundled() -> tuple[SheetRow, ...]:
    """Returns the bundled rows. `SOURCE.md` in the folder `data` names their origin."""
    return parse(files("flashmesh.validation").joinpath("data", FILE).read_text(encoding="utf-8"), FILE)


def rows_of(drive: str) -> tuple[SheetRow, ...]:
    """Returns the bundled rows of the drive with the name `drive` in the measurements."""
    return tuple(row for row in bundled() if row.drive == drive)


def read_rows(path: Path) -> tuple[SheetRow, ...]:
    """Reads a file of data-sheet rows.

    Raises:
        ConfigError: If the file cannot be read, lacks a column, or has an invalid row.
    """
    return parse(text_of(path), str(path))


def chosen_rows(path: Path, drive: str | None) -> tuple[SheetRow, ...]:
    """Reads the rows of one drive from a file of data-sheet rows.

    Args:
        path: The file.
        drive: The name of the drive; None for the only drive of the file.

    Raises:
        ConfigError: As in `read_rows`, or if no drive or several drives match.
    """
    rows = read_rows(path)
    names = list(dict.fromkeys(row.drive for row in rows))
    if drive is None and len(names) > 1:
        raise ConfigError(f"{path}: has several drives: choose one with --drive: {', '.join(names)}")
    found = tuple(row for row in rows if drive is None or row.drive == drive)
    if not found:
        raise ConfigError(f"{path}: has no row of {drive!r}: its drives are {', '.join(names)}")
    return found


def parse(text: str, name: str) -> tuple[SheetRow, ...]:
    """Parses a CSV table of data-sheet rows.

    Raises:
        ConfigError: If a column is missing, a row is invalid or repeated, or there are no rows.
    """
    rows: list[SheetRow] = []
    for place, cells in table_cells(text, name, COLUMNS):
        row = row_of(place, cells)
        if any((row.drive, row.what, row.reference) == (each.drive, each.what, each.reference) for each in rows):
            raise ConfigError(f"{place}: {row.drive} has {row.what!r} of {row.reference!r} twice: keep one of the rows")
        rows.append(row)
    return tuple(rows)


def row_of(place: str, cells: Mapping[str, str]) -> SheetRow:
    """Parses a row of the table.

    Raises:
        ConfigError: If a cell is invalid, or the statistic does not fit the unit or the load.
    """
    for column, expected in NAMES.items():
        if not cells[column]:
            raise ConfigError(f"{place}: {column} is empty: expected {expected}")
    unit = one_of(place, "unit", cells["unit"], UNITS)
    statistic = one_of(place, "statistic", cells["statistic"], (RATE, *STATISTICS))
    if (unit == LATENCY) == (statistic == RATE):
        fitting = ", ".join(STATISTICS) if unit == LATENCY else RATE
        raise ConfigError(f"{place}: statistic is {statistic!r} and unit is {unit!r}: the unit needs {fitting}")
    load = load_of(place, cells)
    if one_of(place, FILL, cells.get(FILL) or FULL, (FULL, EMPTY)) == EMPTY:
        if load.read_share:
            raise ConfigError(f"{place}: {FILL} is {EMPTY!r}: an empty drive has nothing to read: expected {FULL}")
        load = EmptyDriveLoad(load.read_share, load.request_bytes, load.pattern, load.outstanding)
    if unit == LATENCY and load.read_share not in (0.0, 1.0):
        raise ConfigError(f"{place}: read_share is {load.read_share:g}: a latency is of reads (1) or of writes (0)")
    value = number(place, "value", cells["value"], VALUE)
    if value <= 0:
        raise ConfigError(f"{place}: value is {cells['value']!r}: expected {VALUE}")
    return SheetRow(cells["drive"], cells["what"], cells["reference"], value, unit, load, statistic, place=place)


def load_of(place: str, cells: Mapping[str, str]) -> SheetLoad:
    """Parses the load of a row.

    Raises:
        ConfigError: If a cell is invalid.
    """
    from flashmesh.sweeps.inputs.ranges import quantity

    share = number(place, "read_share", cells["read_share"], SHARE)
    if not 0 <= share <= 1:
        raise ConfigError(f"{place}: read_share is {cells['read_share']!r}: expected {SHARE}")
    refused = ConfigError(f"{place}: request_size is {cells['request_size']!r}: expected {SIZE}")
    try:
        size = quantity(f"{place}: request_size", cells["request_size"])
    except ConfigError:
        raise refused from None
    if size.kind != "sizes" or size.value <= 0 or size.value.denominator != 1:
        raise refused
    pattern = one_of(place, "pattern", cells["pattern"], PATTERNS)
    outstanding = cells["outstanding"]
    if not (outstanding.isascii() and outstanding.isdigit() and 1 <= int(outstanding) <= OUTSTANDING_MAX):
        raise ConfigError(f"{place}: outstanding is {outstanding!r}: expected an integer, 1 to {OUTSTANDING_MAX:,}")
    return SheetLoad(share, int(size.value), pattern, int(outstanding))
